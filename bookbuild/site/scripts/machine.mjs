// The map on the cover: the name and the job of a part, where a reader points at it, reaches it by the keyboard or taps
// it.  A second tap, or a click, opens its chapter.
import { element } from "./page.mjs";

const map = document.querySelector(".mt-machine:has(a)");
const job = map?.querySelector(".job");
const parts = map ? [...map.querySelectorAll("a[data-chapter]")] : [];
const titles = new Map(); // of each part, its name and its job
let shown;
let touched = false;

// Say what a part does; all parts of its chapter are marked.
const tell = (part) => {
  shown = part.dataset.chapter;
  for (const one of parts) one.classList.toggle("on", one.dataset.chapter === shown);
  const [name, does] = titles.get(part).split("\n");
  const href = part.getAttribute("href");
  job.replaceChildren(element("b", {}, name), ` ${does} `, element("a", { href }, `Open chapter ${shown}`));
};

for (const part of parts) {
  titles.set(part, part.querySelector("title").textContent);
  part.querySelector("title").remove(); // the browser would show it as well
  for (const text of part.querySelectorAll("text")) text.after(" "); // they are words, not one
  const [seen, title] = [part.textContent.trim().replace(/\s+/g, " "), titles.get(part)];
  const isSaid = title.toLowerCase().includes(seen.toLowerCase());
  part.ariaLabel = isSaid ? title : `${seen}: ${title}`; // who says what is seen to the computer means this part
  part.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && tell(part));
  part.addEventListener("pointerdown", ({ pointerType }) => (touched = pointerType !== "mouse"));
  part.addEventListener("focus", () => touched || tell(part));
  part.addEventListener("click", (event) => {
    if (touched && shown !== part.dataset.chapter) {
      event.preventDefault();
      tell(part);
    }
    touched = false;
  });
}

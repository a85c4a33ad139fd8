// What the frame of every page does: the reader's choices, drawers, copies of code, the place in the text, and loading
// of what is used only now and then (search, previews, live code).
import "./here.mjs";
import "./machine.mjs";
import "./reader.mjs";
import { all, element, linked, load, setting } from "./page.mjs";

const root = document.documentElement;

// ---- the reader's choices, kept on this device ----

const settings = document.getElementById("settings");
for (const input of all("input", settings)) {
  input.checked = input.value === (root.dataset[input.name] ?? "");
  input.addEventListener("change", () => setting(input.name, input.value));
}

// ---- the drawer closes when a place is chosen ----

const contents = document.getElementById("contents");
contents.addEventListener("click", ({ target }) => target.closest("a") && contents.matches(":popover-open") && contents.hidePopover());

// ---- a link into a fold opens it ----

const unfold = () => {
  const target = linked();
  const closed = target ? all("details:not([open])").filter((details) => details.contains(target)) : [];
  for (const details of closed) details.open = true;
  if (closed.length) target.scrollIntoView();
};
unfold();
addEventListener("hashchange", unfold);

// ---- Firefox now and then loses the place that a link leads to while the page above it grows: it is found again ----

let moved = performance.getEntriesByType("navigation")[0]?.type !== "navigate"; // then it is where the reader was
for (const way of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(way, () => (moved = true), { once: true, passive: true });
addEventListener("load", () => moved || linked()?.scrollIntoView());

// ---- who comes from another page to a picture in which one writes can begin at once ----

const field = linked()?.matches("figure") && linked().querySelector(".mt-live input[type=text]");
if (field) {
  const box = field.closest(".mt-explorable");
  const focus = () => moved || field.focus({ preventScroll: true });
  const begin = () => {
    if (!box.matches(".mt-on")) return; // until it can be used, a still picture stands there
    watch.disconnect();
    focus();
  };
  const watch = new MutationObserver(begin);
  watch.observe(box, { attributeFilter: ["class"] });
  begin();
  // A browser that comes to the place only now takes the focus from all.
  field.addEventListener("blur", ({ relatedTarget }) => relatedTarget || focus());
}

// ---- the keyboard reaches what is wider than its place ----

const wide = "pre, .cell_output > .output, .scroll";
const sizes = new ResizeObserver((entries) => {
  const found = entries.map(({ target }) => [target, target.scrollWidth > target.clientWidth]); // all read, then written
  for (const [target, isWide] of found) {
    if (isWide) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
const observe = () => all(wide).forEach((element) => sizes.observe(element));
observe();
addEventListener("outputs", observe); // live code has made new ones
document.fonts.addEventListener("loadingdone", observe); // what a text is wide when its face has come

// ---- a copy of code ----

// The clipboard is for pages from https and from this machine alone; elsewhere, as in a classroom, what is selected is
// copied, and where a browser does not do that either, it stays selected for the reader to copy.
async function copied(pre) {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    return true;
  } catch {
    const put = (event) => {
      event.clipboardData.setData("text/plain", pre.textContent); // as it is written, whatever its lines look like
      event.preventDefault();
    };
    document.addEventListener("copy", put, { once: true });
    getSelection().selectAllChildren(pre);
    const done = document.execCommand("copy");
    document.removeEventListener("copy", put);
    if (done) getSelection().removeAllRanges();
    return done;
  }
}

for (const block of all(".cell_input > div, .text > section div[class^=highlight-]")) {
  const button = element("button", { className: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(block.querySelector("pre"))) ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}

// ---- search, previews, live code: loaded on first use ----

const search = document.getElementById("search");
search.addEventListener("beforetoggle", () => load("search"), { once: true });
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, [contenteditable]");
  const asked = (event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing && !event.ctrlKey);
  if (!asked) return;
  event.preventDefault();
  search.showPopover();
});
if (document.getElementById("search-results")) load("search");

const meet = ({ pointerType, target }) => {
  const met = pointerType ? pointerType !== "touch" : target.matches(":focus-visible");
  if (!met || !target.closest?.(".text a[href]:not(.external, .headerlink, .strip, .mt-machine a)")) return;
  for (const way of ["pointerover", "focusin"]) document.removeEventListener(way, meet);
  load("previews");
};
for (const way of ["pointerover", "focusin"]) document.addEventListener(way, meet);

if (location.protocol === "file:") document.querySelector("[data-here]")?.closest("li").remove(); // a file fetches nothing
const ways = all("[data-here], [data-live]"); // in which the cells of the page can run: the first that is chosen
for (const button of ways) {
  button.addEventListener("click", async () => {
    document.getElementById("run").hidePopover();
    const { live, local } = button.dataset;
    const [script, start] = live ? ["live_code", "startLiveCode"] : ["run_here", "runHere"];
    const failed = () => alert("What runs code could not be loaded: check the network, then try again.");
    if (!window[start]) await load(script).catch(failed);
    if (!window[start]) return;
    for (const other of ways) other.disabled = other !== button;
    window[start](local, live);
  });
}

// The reader's place: what was read is marked in the contents, the cover offers to continue, the summary of a chapter
// says what was predicted and solved, and a panel shows what is kept, exports it, imports it and forgets it.
import { CLAIMS, all, element } from "./page.mjs";
import { forget, keep, of, place, store, understood } from "./place.mjs";

const WHILE = 5000; // milliseconds after which a section whose end is on the screen counts as read: no leap does
const { page } = document.documentElement.dataset;
const title = document.querySelector(".contents [aria-current]");
const sections = all("article > section > section[id]:has(> h2)");
const named = (section) => section.querySelector("h2").firstChild.textContent;
const isRead = ({ read }) => read.includes("summary");
const isText = ({ id }) => id !== "exercises" && id !== "summary";
const started = new Map();

// ---- what is read ----

function look() {
  if (document.hidden) return;
  const now = Date.now();
  let current;
  const read = [];
  for (const section of sections) {
    const { top, bottom } = section.getBoundingClientRect();
    if (top < innerHeight * 0.4) current = section;
    if (bottom > 0 && top < innerHeight && !started.has(section)) started.set(section, now);
    if (bottom > 0 && bottom < innerHeight && now - started.get(section) >= WHILE) read.push(section.id);
  }
  const known = place();
  const before = of(known, page).read;
  const text = sections.slice(0, sections.findIndex(({ id }) => id === "summary")).filter(isText);
  const leapt = text.some(({ id }) => !before.includes(id) && !read.includes(id)); // to the summary, which ends a chapter
  const news = read.filter((id) => !before.includes(id) && !(leapt && id === "summary"));
  if (!current || (!news.length && known.last?.page === page && known.last.id === current.id)) return;
  const last = { page, id: current.id, section: named(current), title: title.textContent.replace(/^\d+/, ""), number: title.querySelector("b").textContent };
  keep((mine, whole) => {
    mine.read.push(...news);
    whole.last = last;
  });
}
if (sections.some(({ id }) => id === "summary")) {
  setInterval(look, WHILE);
  let waits = false;
  const soon = () => {
    waits ||= setTimeout(() => {
      waits = false;
      look();
    }, 300);
  };
  addEventListener("scroll", soon, { passive: true });
}

// ---- where it is shown ----

const list = (parts) => parts.flatMap((part, i) => (i ? [i === parts.length - 1 ? " and " : ", ", part] : [part]));
const many = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

function contents(known) {
  for (const link of all(".contents a[data-page]")) {
    const read = isRead(of(known, link.dataset.page));
    link.classList.toggle("read", read);
    if (read && !link.querySelector(".heard")) link.append(element("span", { className: "heard" }, " (read)"));
    if (!read) link.querySelector(".heard")?.remove();
  }
}

function offer({ last }) {
  const start = document.querySelector("p > .start");
  const chapter = all(".contents a[data-page]").find(({ dataset }) => dataset.page === last?.page);
  if (!start || !chapter) return;
  const section = element("em", {}, last.section);
  const properties = { className: "start continue", href: `${chapter.href}#${last.id}` };
  start.before(element("a", properties, `Continue: chapter ${last.number}, `, section));
  start.classList.remove("start");
}

const tally = element("p", { className: "tally" });
document.querySelector("#summary > h2")?.after(tally);

function sum(known) {
  const { guesses, answers } = of(known, page);
  const made = Object.entries(guesses).filter(([, { which }]) => which !== undefined);
  const missed = made.filter(([, { right }]) => !right).map(([key]) => document.getElementById(`predict-${key}`)?.closest("section"));
  const again = [...new Set(missed.filter(Boolean))].map((section) => element("a", { href: `#${section.id}` }, section.querySelector("h2, h3").firstChild.textContent));
  const solved = all(".exercise.done").length;
  const said = [];
  if (made.length) said.push(`You predicted ${made.length - missed.length} of ${made.length}`, ...(again.length ? ["; look again at ", ...list(again)] : []), ". ");
  if (Object.keys(answers).length) said.push(`You solved ${solved} of ${many(all(".exercise").length, "exercise")}.`);
  tally.replaceChildren(...said);
}

function panel(known) {
  const chapters = Object.values(known.chapters);
  const count = (of) => chapters.reduce((sum, one) => sum + of(one), 0);
  const read = count((one) => isRead(one));
  const judged = Object.keys(of(known, CLAIMS).guesses).length;
  const guesses = count((one) => Object.keys(one.guesses).length) - judged;
  const solved = count((one) => Object.values(one.answers).filter(({ done }) => done).length);
  const where = known.last ? ` You were last at ${known.last.section}, in chapter ${known.last.number}.` : "";
  const something = chapters.length > 0;
  document.querySelector(".kept").textContent = something
    ? `${many(read, "chapter")} read, ${many(guesses, "prediction")} made, ${many(solved, "answer")} right${judged ? `, ${many(judged, "claim")} judged` : ""}.${where}`
    : "Nothing is kept yet.";
  for (const button of all("#place button")) button.disabled = !something;
}

function show() {
  const known = place();
  contents(known);
  if (tally.isConnected) sum(known);
  panel(known);
}
for (const news of ["kept", "ticked", "storage"]) addEventListener(news, show);
addEventListener("DOMContentLoaded", show); // the exercises have been put back by then
offer(place());

// ---- export, import and forget ----

document.querySelector("[data-do=export]").addEventListener("click", () => {
  const file = new Blob([JSON.stringify(place(), null, 2)], { type: "application/json" });
  const link = element("a", { href: URL.createObjectURL(file), download: "my-place-in-the-book.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
const chooser = document.querySelector("#place input");
chooser.addEventListener("change", async () => {
  const [file] = chooser.files;
  const known = understood(await file.text());
  chooser.value = ""; // so that the same file can be chosen again
  if (!Object.keys(known.chapters).length) {
    document.querySelector(".kept").textContent = `“${file.name}” holds no work on this book: choose a file that was exported here.`;
    return;
  }
  const mine = place();
  store({ ...mine, ...known, chapters: { ...mine.chapters, ...known.chapters } });
  location.reload();
});
const button = document.querySelector("[data-do=forget]");
button.addEventListener("click", () => {
  if (button.dataset.sure) return forget();
  button.dataset.sure = "asked";
  button.textContent = "Press again to forget everything";
});
document.getElementById("place").addEventListener("toggle", () => {
  delete button.dataset.sure;
  button.textContent = "Forget everything";
});

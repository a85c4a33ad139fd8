// The page of claims as a quiz.  In the text a claim is an item of a list with two paragraphs: the sentence, and what
// begins with its verdict.  The second is hidden until the reader has judged; how many were judged rightly is counted
// below the head of each chapter's claims, and of all below the title.
import { all, element, setting } from "../page.mjs";
import { keep, of, place } from "../place.mjs";
import { hash } from "./hash.mjs";
import { options, plain } from "./options.mjs";

const VERDICTS = ["True", "False", "True only if"];
const FINDABLE = "onbeforematch" in document.documentElement;
const { dataset } = document.documentElement;
const met = new Set(); // claims whose verdict a search has shown

/** Return the claims within an element, each with its item, its key and the number of its verdict. */
const claims = (within) =>
  all("li", within).flatMap((item) => {
    const [said, told] = item.querySelectorAll(":scope > p");
    const mark = told?.querySelector(":scope > strong:first-child");
    const right = mark ? VERDICTS.indexOf(plain(mark).replace(":", "")) : -1;
    return right < 0 ? [] : [{ item, told, right, key: hash(plain(said)) }];
  });

/** Return what is kept of the judgements; what is kept in another form is none. */
function judgements() {
  const { guesses } = of(place(), dataset.page);
  return Object.fromEntries(Object.entries(guesses).filter(([, { which }]) => Number.isInteger(which) && which in VERDICTS));
}

/** Let a reader judge a claim. */
function judged({ item, told, right, key }) {
  const said = element("p", { className: "say", role: "status" });
  const choose = (which) => keep(({ guesses }) => (guesses[key] = { which, right: which === right }));
  const fresh = () => options(VERDICTS.map((verdict) => [verdict]), "Your verdict", choose);
  let group = fresh();
  let shown;
  item.classList.add("claim");
  told.before(group, said);
  told.addEventListener("beforematch", () => {
    met.add(key);
    show();
  });

  function show() {
    const which = judgements()[key]?.which;
    const open = which !== undefined || dataset.veil === "off" || met.has(key);
    told.classList.toggle("veiled", !open);
    if (FINDABLE) told.hidden = !open && "until-found";
    if (which === shown) return;
    shown = which;
    const focused = group.contains(document.activeElement);
    const before = group;
    group = fresh();
    before.replaceWith(group);
    item.classList.toggle("done", which !== undefined);
    said.textContent = which === undefined ? "" : which === right ? "You judged rightly." : `You said: ${VERDICTS[which].toLowerCase()}.`;
    if (which === undefined) return;
    group.mark(which, right);
    group.close();
    if (focused) group.children[which].focus({ preventScroll: true });
  }
  addEventListener("kept", show);
  addEventListener("chosen", show);
  show();
}

/** Count below a heading how many of some claims were judged, and rightly; they can be judged anew. */
function counted(heading, found) {
  const told = element("span", { role: "status" });
  const button = (label, act) => {
    const made = element("button", { className: "link" }, label);
    made.addEventListener("click", act);
    return made;
  };
  const anew = button("Judge them anew", () => {
    keep(({ guesses }) => found.forEach(({ key }) => delete guesses[key]));
    met.clear();
    heading.parentElement.querySelector(".option").focus({ preventScroll: true });
  });
  const veil = button("", () => {
    met.clear();
    setting("veil", dataset.veil === "off" ? "" : "off");
  });
  const whole = heading.matches("h1");
  const line = element("p", { className: "score" }, told, " ", anew, ...(whole ? [" ", veil] : []));
  (whole ? heading.parentElement.querySelector(":scope > section").previousElementSibling : heading).after(line);

  function show() {
    const known = judgements();
    const mine = found.filter(({ key }) => known[key]);
    const rightly = mine.filter(({ key, right }) => known[key].which === right).length;
    told.textContent = `You have judged ${mine.length} of ${found.length}${mine.length ? `, ${rightly} of them rightly` : ""}.`;
    anew.hidden = !mine.length;
    veil.textContent = dataset.veil === "off" ? "Hide verdicts until I choose" : "Show all verdicts";
  }
  addEventListener("kept", show);
  addEventListener("chosen", show);
  show();
}

const title = document.querySelector(".text h1");
const parts = all(".text section > h2").map((heading) => [heading, claims(heading.parentElement)]).filter(([, found]) => found.length);
for (const [heading, found] of parts) {
  counted(heading, found);
  found.forEach(judged);
}
counted(title, parts.flatMap(([, found]) => found));

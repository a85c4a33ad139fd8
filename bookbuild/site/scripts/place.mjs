// What is kept of a reader's work, on this device alone: chapters read, predictions, answers, code.  Where the browser keeps
// nothing (a private window, a full disk), it is known until the page is left.
import { BOOK } from "./page.mjs";

const KEY = `${BOOK} place`; // all books at one address share what is kept, so the name says whose it is

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const objects = (value) => (isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => isObject(one))) : {});

const texts = (value) => (isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, one]) => typeof one === "string")) : {});

/** Return of a page what has the form in which it is kept: {read, guesses, answers, code}. */
const ofPage = ({ read, guesses, answers, code }) => ({
  read: Array.isArray(read) ? read.filter((id) => typeof id === "string") : [],
  guesses: objects(guesses),
  answers: objects(answers),
  code: texts(code),
});

/** Return of a text what has the form in which a place is kept: {chapters: {page: {read, guesses, answers, code}}, last}. */
export function understood(text) {
  try {
    const { chapters, last } = JSON.parse(text);
    const pages = Object.entries(objects(chapters)).map(([page, known]) => [page, ofPage(known)]);
    const isLast = isObject(last) && Object.values(last).every((value) => typeof value === "string");
    return { chapters: Object.fromEntries(pages), ...(isLast && { last }) };
  } catch {
    return { chapters: {} };
  }
}

/** Return what is known. */
export function place() {
  if (window.unkept) return window.unkept;
  try {
    return understood(localStorage[KEY] ?? "{}");
  } catch {
    return { chapters: {} };
  }
}

/** Return what is known of a page in what `place` returned. */
export const of = (known, page) => ofPage(known.chapters[page] ?? {});

/** Change what is known of this page, and tell who shows it. */
export function keep(change) {
  const known = place();
  const page = document.documentElement.dataset.page;
  known.chapters[page] = of(known, page);
  change(known.chapters[page], known);
  store(known);
  dispatchEvent(new Event("kept"));
}

/** Keep all that is known. */
export function store(known) {
  try {
    localStorage[KEY] = JSON.stringify(known);
  } catch {
    window.unkept = known;
  }
}

/** Forget everything. */
export function forget() {
  delete window.unkept;
  try {
    localStorage.removeItem(KEY);
  } catch {} // nothing was kept
  location.replace(location.pathname);
}

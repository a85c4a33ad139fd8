// What is kept of a reader's work, on this device alone: chapters read, predictions, answers.  Where the browser keeps
// nothing (a private window, a full disk), it is known until the page is left.

const KEY = "place";

/** Return what is known: {chapters: {page: {read, guesses, answers}}, last}. */
export function place() {
  if (window.unkept) return window.unkept;
  try {
    return { chapters: {}, ...JSON.parse(localStorage[KEY] ?? "{}") };
  } catch {
    return { chapters: {} };
  }
}

/** Return what is known of a page in what `place` returned. */
export const of = (known, page) => ({ read: [], guesses: {}, answers: {}, ...known.chapters[page] });

/** Change what is known of this page, and tell who shows it. */
export function keep(change) {
  const known = place();
  const page = document.documentElement.dataset.page;
  known.chapters[page] = of(known, page);
  change(known.chapters[page], known);
  try {
    localStorage[KEY] = JSON.stringify(known);
  } catch {
    window.unkept = known;
  }
  dispatchEvent(new Event("kept"));
}

/** Forget everything. */
export function forget() {
  delete window.unkept;
  try {
    localStorage.removeItem(KEY);
  } catch {} // nothing was kept
  location.replace(location.pathname);
}

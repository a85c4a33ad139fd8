// What the scripts of a page share.

/** The way from this page to the top of the site. */
export const ROOT = document.documentElement.dataset.content_root;

/** The name of the book, under which things are kept. */
export const BOOK = document.documentElement.dataset.book;

/** The page of claims, on which guesses are judgements. */
export const CLAIMS = "reference/claims";

/** Load a script of the site, a classic one, which works from a file too. */
export const load = (name) =>
  new Promise((onload, onerror) => {
    const src = `${ROOT}_static/${name}.js`;
    document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
  });

/** Return a new element. */
export const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

/** Return the elements that a selector finds. */
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** Choose a setting of the View, such as theme or veil, and keep it on this device. */
export function setting(name, value) {
  const { dataset } = document.documentElement;
  if (value) dataset[name] = value;
  else delete dataset[name];
  const { theme, code, veil } = dataset;
  try {
    localStorage[`${BOOK} settings`] = JSON.stringify({ theme, code, veil });
  } catch {} // a private window keeps nothing
  dispatchEvent(new Event("chosen"));
}

/** Return what the page's address leads to, or null. */
export function linked() {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return null; // no address, such as #%
  }
}

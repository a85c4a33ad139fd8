// Shows what a link leads to in a card beside it, while the reader points at it or reaches it by the keyboard.
//
// The card stays while the pointer is on the link or on the card, or the link has the focus; Escape closes it.  It is
// placed after the link (outside of what a click folds), so that the keyboard goes on from there to the card's links.
// What it shows comes from the scripts that previews.py writes.  A touch follows the link, as ever.
import { ROOT, element, load } from "./page.mjs";

const LINKS = ".text a[href]:not(.external, .headerlink, .viewcode-back, .strip, .mt-live a, .mt-machine a)";
const DELAY = 300; // milliseconds until a card opens, so that a pointer on its way opens none
const GRACE = 250; // and until it closes, so that the pointer can move into it
const GAP = 6; // pixels between link and card
const EDGE = 8; // and between card and window

const root = new URL(ROOT, document.baseURI);
const card = element("div", { className: "preview", popover: "manual", role: "tooltip" });
let link, wanted, hovered, focused, timer;

// Returns the HTML of what is at an address of the book, or undefined where there is nothing to show.
const find = async (url) => {
  if (!url.href.startsWith(root.href)) return;
  const [, page] = url.pathname.slice(root.pathname.length).match(/^(?!_)([\w/-]+)\.html$/) ?? [];
  if (!page) return;
  const id = decodeURIComponent(url.hash.slice(1));
  const name = id.startsWith("fig-") ? `${page}/${id}` : page;
  if (!window.previews?.[name]) await load(`previews/${name}`).catch(() => {});
  return window.previews?.[name]?.[id];
};

// Returns the nodes of a card: ids are made its own, addresses are those of the page that they come from.
const content = (html, url) => {
  const inside = element("template", { innerHTML: html }).content;
  const all = (selector) => inside.querySelectorAll(selector);
  for (const { attributes } of all("a[href]")) attributes.href.value = new URL(attributes.href.value, url);
  for (const part of all("[data-css]")) part.style.cssText = part.dataset.css;
  for (const part of all("[id]")) {
    const own = `preview-${part.id}`;
    for (const use of all(`use[href="#${part.id}"]`)) use.setAttribute("href", `#${own}`);
    for (const cut of all(`[clip-path="url(#${part.id})"]`)) cut.setAttribute("clip-path", `url(#${own})`);
    part.id = own;
  }
  return inside;
};

const place = () => {
  if (!link) return;
  const at = link.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  if (at.bottom < 0 || at.top > height) return close();
  const above = at.top - GAP - EDGE;
  const below = height - at.bottom - GAP - EDGE;
  card.style.maxHeight = "none";
  const under = card.offsetHeight <= below || below >= above;
  card.style.maxHeight = `${under ? below : above}px`;
  card.style.top = `${under ? at.bottom + GAP : at.top - GAP - card.offsetHeight}px`;
  card.style.left = `${Math.max(EDGE, Math.min(at.left, width - EDGE - card.offsetWidth))}px`;
  card.toggleAttribute("tabindex", false);
  if (card.scrollHeight > card.clientHeight || card.scrollWidth > card.clientWidth) card.tabIndex = 0;
};

const close = () => {
  if (card.contains(document.activeElement)) link.focus();
  clearTimeout(timer); // which that focus has set, too
  link?.removeAttribute("aria-describedby");
  card.remove();
  link = undefined;
};

const open = async (target) => {
  if (target === link) return;
  const url = new URL(target.getAttribute("href"), location.href); // a link in a drawing has no address in its `href`
  const html = await find(url);
  if (target !== wanted) return;
  close();
  if (!html) return;
  link = target;
  link.setAttribute("aria-describedby", "preview");
  card.removeAttribute("id");
  card.replaceChildren(content(html, url));
  (card.querySelector("figcaption") ?? card).id = "preview"; // the rest would be long to hear
  (link.closest("svg") ?? link.closest("summary")?.parentElement ?? link).after(card);
  card.showPopover?.();
  card.scrollTop = 0;
  place();
};

const update = () => {
  const target = hovered ?? focused;
  if (target === wanted) return;
  wanted = target;
  clearTimeout(timer);
  timer = setTimeout(() => (target ? open(target) : close()), target ? DELAY : GRACE);
};

const linkOf = (element) => (card.contains(element) ? link : (element.closest?.(LINKS) ?? undefined));
const point = (element) => update((hovered = linkOf(element)));
const focus = (element) => update((focused = element.matches?.(":focus-visible") ? linkOf(element) : undefined));

document.addEventListener("pointerover", (event) => event.pointerType === "touch" || point(event.target));
document.documentElement.addEventListener("pointerleave", () => point(document));
document.addEventListener("focusin", (event) => focus(event.target));
document.addEventListener("focusout", () => focus(document));
document.addEventListener("keydown", (event) => event.key === "Escape" && close());
document.addEventListener("scroll", place, { passive: true });
addEventListener("resize", place);

point([...document.querySelectorAll(":hover")].at(-1) ?? document);
focus(document.activeElement);

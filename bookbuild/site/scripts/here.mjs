// Where the reader is, in the list of places on this page: at the place that a link has led to, until the page is
// scrolled; else in the section that a line across the window lies in.  The line is near the top, and sinks to the foot
// over the last screen, so that the sections there have their turn although none of them can reach the top.
import { all, linked } from "./page.mjs";

const LINE = 0.25; // of the window's height
const STILL = 2; // pixels by which what a link has led to may move and still count as where it was

const list = document.querySelector(".here");
const places = list ? all("a", list).map((link) => ({ link, section: document.getElementById(link.hash.slice(1)) })) : [];
let led; // what a link has led to, and where that then stood

const top = (element) => element.getBoundingClientRect().top;

function crossed() {
  const below = document.documentElement.scrollHeight - innerHeight - scrollY;
  const line = innerHeight * Math.max(LINE, 1 - below / innerHeight);
  return places.findLast(({ section }) => top(section) <= line);
}

function mark() {
  if (!list.checkVisibility()) return; // on a phone, where nobody needs the layout that this asks for
  const isLed = led && Math.abs(top(led.target) - led.top) <= STILL;
  const here = isLed ? places.findLast(({ section }) => section.contains(led.target)) : crossed();
  for (const { link } of places) link.removeAttribute("aria-current");
  here?.link.setAttribute("aria-current", "location");
}

/** Note what the address leads to, once the browser has gone there. */
const arrive = () =>
  requestAnimationFrame(() => {
    const target = linked();
    led = target && { target, top: top(target) };
    mark();
  });

if (places.length) {
  let waits = false;
  const soon = () => {
    waits ||= requestAnimationFrame(() => {
      waits = false;
      mark();
    });
  };
  for (const change of ["scroll", "resize"]) addEventListener(change, soon, { passive: true });
  for (const change of ["load", "hashchange"]) addEventListener(change, arrive);
  addEventListener("click", ({ target }) => target.closest?.("a[href*='#']") && arrive()); // also where one was led already
}

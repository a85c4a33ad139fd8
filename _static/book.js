// Lets the keyboard reach what is wider than its place: code, outputs, tables and formulas.
{
  const wide = "pre, .cell_output > .output, .pst-scrollable-table-container, .katex-display";
  const mark = (entries) => {
    const scrolls = ({ target }) => target.scrollWidth > target.clientWidth;
    const [those, others] = [entries.filter(scrolls), entries.filter((entry) => !scrolls(entry))];
    for (const { target } of those) target.tabIndex = 0;
    for (const { target } of others) target.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver(mark); // it tells of each when it is laid out
  const observe = () => {
    sizes.disconnect();
    for (const element of document.querySelectorAll(wide)) sizes.observe(element);
  };
  observe();
  new MutationObserver(observe).observe(document.getElementById("main-content"), { childList: true, subtree: true });
}

// Sections out of view are not laid out while the page loads (book.css).  They are when somebody is there, one at a time.
{
  const sections = [...document.querySelectorAll(".bd-article > section > section")];
  const signs = ["keydown", "pointermove", "scroll", "touchstart"];
  const layOut = () => {
    if (!sections.length) return;
    sections.shift().style.contentVisibility = "visible";
    requestIdleCallback(layOut);
  };
  const begin = () => {
    for (const sign of signs) removeEventListener(sign, begin);
    requestIdleCallback(layOut);
  };
  if (window.requestIdleCallback) for (const sign of signs) addEventListener(sign, begin, { passive: true });
}

// Gives the focus back to the button that opened a drawer: the theme takes it from the button before it remembers it.
for (const side of ["primary", "secondary"]) {
  const button = document.querySelector(`.${side}-toggle`);
  document.getElementById(`pst-${side}-sidebar-modal`)?.addEventListener("close", () => button?.focus());
}

// Solutions, which have their buttons by now: each is named by what it shows, and the link in its title folds nothing.
for (const button of document.querySelectorAll(".toggle-button")) {
  const title = button.parentElement;
  const what = Object.assign(document.createElement("span"), { className: "book-spoken" });
  what.textContent = title.textContent.trim();
  button.append(what);
  button.querySelector("svg")?.setAttribute("aria-hidden", "true");
  button.removeAttribute("aria-label"); // its name is now its hint, which changes, and what it shows
  for (const link of title.querySelectorAll("a")) link.addEventListener("click", (event) => event.stopPropagation());
}

// Loads the previews of links when the reader points at the first link of the text or reaches it by the keyboard.
{
  const meet = ({ pointerType, target }) => {
    const met = pointerType ? pointerType !== "touch" : target.matches(":focus-visible");
    if (!met || !target.closest(".bd-article a[href]:not(.external, .headerlink)")) return;
    for (const way of ["pointerover", "focusin"]) document.removeEventListener(way, meet);
    const src = `${document.documentElement.dataset.content_root}_static/previews.js`;
    document.head.append(Object.assign(document.createElement("script"), { src }));
  };
  for (const way of ["pointerover", "focusin"]) document.addEventListener(way, meet);
}

// Loads the search with its index when its dialog opens; a window that is not in front tells of no focus.
{
  const dialog = document.getElementById("pst-search-dialog");
  const load = () => {
    for (const way of ["focusin", "input"]) dialog.removeEventListener(way, load);
    const src = `${document.documentElement.dataset.content_root}_static/search.js`;
    document.head.append(Object.assign(document.createElement("script"), { src }));
  };
  for (const way of ["focusin", "input"]) dialog.addEventListener(way, load);
}

// Search while the reader types: in the panel of every page, and on the search page.  Loaded on the first use.
import {ROOT, element, load} from "../page.mjs";
import {excerpt} from "./excerpt.mjs";
import {ranking} from "./ranking.mjs";

const [IN_PANEL, ON_PAGE] = [12, 40]; // results at most
const FAILED = "The search could not load its index: reload the page.";

let loading;

// Loads the index, once; resolves to the function that finds results.
const loadIndex = () => (loading ??= load("search_index").then(() => finder(window.bookSearchIndex)));

function finder(index) {
  const find = ranking(index);
  const titles = index.pages.map((_, page) => index.entries.find((entry) => entry[0] === page)[2]);
  return (query) => find(query).map(({id, terms}) => {
    const [page, place, title, text, , opening] = index.entries[id];
    const [address, number] = index.pages[page];
    const chapter = [number && `Chapter ${number}`, place && titles[page]].filter(Boolean).join(": ");
    return {href: ROOT + address + (place && `#${place}`), title, chapter, parts: excerpt(opening || text, terms)};
  });
}

const contents = ({title, chapter, parts}) => [
  element("span", {className: "found-title"}, title),
  element("span", {className: "found-chapter"}, chapter),
  element("span", {className: "found-text"}, ...parts.map(({said, marked}) => (marked ? element("mark", {}, said) : said))),
];

const said = (query, count, most) => {
  if (!query) return "";
  if (!count) return `Nothing in the book matches “${query}”. Try fewer or other words.`;
  if (count > most) return `The best ${most} of ${count} results`;
  return count === 1 ? "1 result" : `${count} results`;
};

// Keeps what `show` makes of the results, and the sentence of `status`, up to what stands in `input`.
function follow(input, status, most, show) {
  const update = async () => {
    if (!input.value && !loading) return; // the search page without a question: the index is most of its weight
    try {
      const find = await loadIndex();
      const query = input.value.trim();
      const found = query ? find(query) : [];
      show(found.slice(0, most));
      status.textContent = said(query, found.length, most);
    } catch {
      status.textContent = FAILED;
    }
  };
  input.addEventListener("input", update);
  update();
}

function onPage(form, results) {
  const input = form.querySelector("input");
  const [status, list] = [element("p", {role: "status"}), element("ol", {className: "found"})];
  results.append(status, list);
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  const row = (result) => element("li", {}, element("a", {href: result.href}, ...contents(result)));
  follow(input, status, ON_PAGE, (found) => list.replaceChildren(...found.map(row)));
}

function inPanel(panel) {
  const input = panel.querySelector("input");
  const list = element("div", {role: "listbox", id: "search-found", className: "found", ariaLabel: "Results"});
  const status = element("p", {role: "status"});
  panel.append(element("div", {className: "found-box"}, status, list));
  const combobox = {role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": false};
  for (const [key, value] of Object.entries(combobox)) input.setAttribute(key, value);
  const option = (result, number) =>
    element("a", {role: "option", id: `found-${number}`, href: result.href, tabIndex: -1}, ...contents(result));
  const choose = (chosen) => {
    for (const each of list.children) each.setAttribute("aria-selected", each === chosen);
    if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
    else input.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({block: "nearest"});
  };
  const show = (found) => {
    list.replaceChildren(...found.map(option));
    list.hidden = !found.length;
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", found.length > 0);
    choose(null);
  };
  const onKey = (event) => {
    const chosen = list.querySelector("[aria-selected=true]");
    const next = {
      ArrowDown: () => (chosen ? chosen.nextElementSibling : list.firstElementChild),
      ArrowUp: () => (chosen ? chosen.previousElementSibling : list.lastElementChild),
    }[event.key];
    if (next) choose(next());
    if (event.key === "Enter" && chosen) chosen.click();
    if (next || (event.key === "Enter" && chosen)) event.preventDefault();
  };
  input.addEventListener("keydown", onKey);
  list.addEventListener("click", () => panel.hidePopover());
  follow(input, status, IN_PANEL, show);
}

const results = document.getElementById("search-results");
inPanel(document.getElementById("search"));
if (results) onPage(document.querySelector("main form"), results);
else loadIndex(); // the panel has been opened

// The bar at the foot of the window: it says how the code of the page stands and holds the buttons that go with that.
import { element } from "../page.mjs";

/** Return a button that does `act`; `label` says more than its name where a screen reader needs it. */
export const button = (name, act, label = name) =>
  element("button", { type: "button", className: "live-button", ariaLabel: label, onclick: () => act() }, name);

/** Return the bar; `actions` are what each button does in each state, `local` is where running at home is told of. */
export function makeBar(actions, local, name) {
  const words = element("span", { role: "status" });
  const seconds = element("span", { className: "live-seconds", ariaHidden: "true" }); // heard, they would be a nuisance
  const help = element("a", { href: local, target: "_blank", rel: "noopener" }, "Run the chapters on your own computer");
  const buttons = element("span", { className: "live-buttons" });
  const bar = element("section", { className: "live-bar", ariaLabel: name, tabIndex: -1 });
  bar.append(words, seconds, help, buttons);
  let [state, since] = [];
  setInterval(() => (seconds.textContent = `${Math.round((Date.now() - since) / 1000)} s`), 1000);

  const focus = () => (buttons.firstElementChild ?? bar).focus();
  /** Say `sentence`; the new state, one of the `actions`, decides on all else. */
  const say = (now, sentence) => {
    words.textContent = sentence;
    if (now === state) return;
    const focused = bar.contains(document.activeElement);
    [state, since] = [now, Date.now()];
    seconds.hidden = state !== "waiting";
    help.hidden = state !== "failed";
    buttons.replaceChildren(...Object.entries(actions[state]).map(([name, act]) => button(name, act)));
    if (focused) focus();
  };
  const show = () => {
    document.body.append(bar);
    document.documentElement.classList.add("has-bar");
  };
  const close = () => {
    bar.remove();
    document.documentElement.classList.remove("has-bar");
  };
  return { say, focus, show, close };
}

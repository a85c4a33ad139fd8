// The bar at the foot of the window: it says what live code is doing and holds the buttons that go with that.

const make = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

/** Return the bar's functions; `local` is the address of what is to be read where no computer can be had. */
export function makeBar(local) {
  const words = make("p", { role: "status" });
  const seconds = make("span", { className: "live-seconds", ariaHidden: "true" }); // heard, they would be a nuisance
  const help = make("a", { href: local, target: "_blank", rel: "noopener" }, "Run the chapters on your own computer");
  const buttons = make("span", { className: "live-buttons" });
  const bar = make("section", { className: "live-bar", ariaLabel: "Live code" }, words, seconds, help, buttons);
  let counting;

  const offer = (actions) => {
    const names = Object.keys(actions);
    const before = [...buttons.children].map((button) => button.textContent);
    const focused = bar.contains(document.activeElement);
    if (names.join() !== before.join()) {
      const properties = { type: "button", className: "live-button" };
      buttons.replaceChildren(...names.map((name) => make("button", properties, name)));
    }
    for (const button of buttons.children) button.onclick = actions[button.textContent];
    if (focused) buttons.firstElementChild?.focus();
  };
  /** Say `sentence` and offer `actions`, what each button does by its name; where all `failed`, a link as well. */
  const say = (sentence, actions, failed = false) => {
    words.textContent = sentence;
    bar.classList.toggle("live-failed", failed);
    help.hidden = !failed;
    offer(actions);
  };
  const show = () => {
    document.body.append(bar);
    document.documentElement.classList.add("live-on");
  };
  const count = (on) => {
    clearInterval(counting);
    seconds.textContent = "";
    if (!on) return;
    const since = Date.now();
    counting = setInterval(() => (seconds.textContent = `${Math.round((Date.now() - since) / 1000)} s`), 1000);
  };
  const close = () => {
    count(false);
    bar.remove();
    document.documentElement.classList.remove("live-on");
  };
  return { say, show, close, count, focus: () => buttons.firstElementChild?.focus() };
}

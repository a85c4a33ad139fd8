// Runs an explorable in a page without a kernel: a model of the state, as anywidget would give it, and an element.
export function mount(script, explorable) {
  const box = script.parentElement;
  const state = JSON.parse(box.dataset.state);
  const listeners = [];
  const model = {
    get: (key) => state[key],
    set(key, value) {
      state[key] = value;
      for (const [event, listener] of listeners) if (event === `change:${key}`) listener();
    },
    on: (event, listener) => listeners.push([event, listener]),
    save_changes() {},
  };
  const waiting = explorable.render({ model, el: script.previousElementSibling });
  const begin = () => box.classList.add("mt-on"); // hides the still picture on a screen; it may be yet to come
  if (waiting) waiting.then(begin);
  else begin();
}

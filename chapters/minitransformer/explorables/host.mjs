// Runs an explorable in a page without a kernel: a model of the state, as anywidget would give it, and an element.
export function mount(script, explorable) {
  const [, still, el] = script.parentElement.children; // after the style
  const state = JSON.parse(script.parentElement.dataset.state);
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
  explorable.render({ model, el });
  still.classList.add("mt-print");
}

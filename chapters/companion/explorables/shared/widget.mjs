// Runs an explorable in a widget: a model that calls `keys` by the name that it has there, and an element.
export default {
  render({ model, el }) {
    const there = (name) => name.replace(/\bkeys$/, "keys_"); // also in "change:keys"
    const named = {
      get: (key) => model.get(there(key)),
      set: (key, value) => model.set(there(key), value),
      on: (event, listener) => model.on(there(event), listener),
      save_changes: () => model.save_changes(),
    };
    explorable.render({ model: named, el });
  },
};

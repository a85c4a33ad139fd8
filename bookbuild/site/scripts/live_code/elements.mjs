// What live code adds to the page is made here.

/** Return a new element. */
export const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

/** Return a button that does `act`; `label` says more than its name where a screen reader needs it. */
export const button = (name, act, label = name) =>
  element("button", { type: "button", className: "live-button", ariaLabel: label, onclick: () => act() }, name);

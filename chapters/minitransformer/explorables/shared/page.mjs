// What explorables of a trained model share: how its weights come into the page, and a row to walk along by keys.

export const LOADED = /(\w+)\.js$/; // the address of weights that the build has moved out of the page

// Weights that stand in a script of their own, which a page may load from a file too.
export function loaded(address) {
  return new Promise((done, fail) => {
    const script = Object.assign(document.createElement("script"), { src: address });
    script.addEventListener("load", () => done(window.weights[LOADED.exec(address)[1]]));
    script.addEventListener("error", fail);
    document.head.append(script);
  });
}

// Wait until the reader has come near to an element, so many pixels, or has it opened.
export function near(node, pixels) {
  return new Promise((done) => {
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      watch.disconnect();
      done();
    }, { rootMargin: `${pixels}px` });
    watch.observe(node);
  });
}

// Make the children of a node one stop of the Tab key; the arrow keys go from child to child.
export function roving(node) {
  const rest = (there) => [...node.children].forEach((child) => (child.tabIndex = child === there ? 0 : -1));
  node.addEventListener("focusin", ({ target }) => target !== node && rest(target));
  node.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const next = [...node.children][[...node.children].indexOf(event.target) + way];
    if (!way) return;
    event.preventDefault();
    next?.focus();
  });
  return (there) => rest(there ?? [...node.children].find((child) => child.tabIndex === 0) ?? node.firstChild);
}

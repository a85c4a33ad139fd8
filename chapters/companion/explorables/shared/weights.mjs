// The weights of a model, float16 in base64: in the page, or in a script to which the build has moved them out of it.
const SCRIPT = /(\w+)\.js$/;

// Whether these are the address of weights and not the weights themselves.
export const away = (weights) => SCRIPT.test(weights);

// The weights at an address: those of a script come also to a page that was opened from a file.
export function loaded(address) {
  return new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => done(window.weights[SCRIPT.exec(address)[1]]));
    script.addEventListener("error", fail);
    document.head.append(script);
  });
}

// Wait until the reader has come near to an element, so many pixels, or was led to it by a link.
export function near(node, pixels) {
  const led = location.hash && `#${CSS.escape(location.hash.slice(1))}`; // before the browser knows its :target
  if (led && node.closest(led)) return Promise.resolve(); // also where the page, growing above it, has lost the place
  return new Promise((done) => {
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) return;
      watch.disconnect();
      done();
    }, { rootMargin: `${pixels}px` });
    watch.observe(node);
  });
}

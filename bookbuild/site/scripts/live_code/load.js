// Loads live code on the first click, and starts it: a classic script, as a page opened from a file takes no modules.
const startLiveCode = (build, local) => {
  const start = () => LiveCode.start(build, local);
  if (window.LiveCode) return start();
  const src = `${document.documentElement.dataset.content_root}_static/live_code.js`;
  const failed = () => alert("Live code could not be loaded: check the network, then try again.");
  document.head.append(Object.assign(document.createElement("script"), { src, onload: start, onerror: failed }));
};

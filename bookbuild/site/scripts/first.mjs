// What has to be done before a page is first painted; the page waits for it, so it is short.
const root = document.documentElement;

// The reader's choices; nothing else is taken from the storage, above all no address.
try {
  const { dataset } = root;
  const kept = JSON.parse(localStorage[`${dataset.book} settings`]);
  for (const name of ["theme", "code", "veil"]) if (typeof kept[name] === "string") dataset[name] = kept[name];
} catch {}

// The face of the text begins to come with the stylesheet, so that few lines break anew; a browser loads none ahead from a file.
if (location.protocol !== "file:") {
  const face = { rel: "preload", as: "font", crossOrigin: "", href: `${root.dataset.content_root}_static/serif.woff2` };
  document.head.append(Object.assign(document.createElement("link"), face));
}

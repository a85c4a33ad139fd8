// The page for what is not there: the colours that the reader has chosen, and links that count from where it lies.
const root = document.documentElement;
if (location.pathname.endsWith("/404.html")) document.querySelector("base")?.remove();
try {
  root.dataset.theme = JSON.parse(localStorage[`${root.dataset.book} settings`]).theme ?? "";
} catch {}

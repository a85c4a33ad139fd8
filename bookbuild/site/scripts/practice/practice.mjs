// Predictions that are made before the result is seen, and exercises that are answered on the page.
import { all } from "../page.mjs";
import { choice, pick } from "./choice.mjs";
import { exercise } from "./exercise.mjs";
import { lines } from "./lines.mjs";
import { mend } from "./mend.mjs";
import { prediction, unveil } from "./prediction.mjs";
import { typed } from "./typed.mjs";
import { words } from "./words.mjs";

const FORMS = { choice, lines, mend, pick, typed, words };

for (const mark of all(".text p > strong:first-child")) if (mark.textContent === "Predict.") prediction(mark.parentElement);
addEventListener("hashchange", unveil);
unveil();

// The exercises stand far below: one at a time, so that a slow machine can answer its reader in between.
const boxes = all(".practice");
function fill() {
  for (const box of boxes.splice(0, location.hash ? boxes.length : 1)) exercise(box, FORMS[box.dataset.form]);
  if (boxes.length) setTimeout(fill);
  else dispatchEvent(new Event("ticked"));
}
fill();

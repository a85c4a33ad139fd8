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
for (const box of all(".practice")) exercise(box, FORMS[box.dataset.form]);
addEventListener("hashchange", unveil);
unveil();

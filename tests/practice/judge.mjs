// Judges answers as the pages do: reads {"typed": [[data, numbers]], "orders": [[data, order]], "values": [[text, whole]]}
// as JSON, prints the verdicts in the same form.
import { readFileSync } from "node:fs";
import { verdict } from "../../bookbuild/practice/order.mjs";
import { judge } from "../../bookbuild/site/scripts/practice/judge.mjs";
import { unread, value } from "../../bookbuild/site/scripts/practice/sums.mjs";

const { typed = [], orders = [], values = [] } = JSON.parse(readFileSync(0, "utf8"));
const read = ([text, whole]) => (Number.isNaN(value(text, whole)) ? unread(text, whole) : value(text, whole));
const verdicts = {
  typed: typed.map(([data, numbers]) => judge(data, numbers)),
  orders: orders.map(([data, order]) => verdict(data, order)[1]),
  values: values.map(read),
};
process.stdout.write(JSON.stringify(verdicts));

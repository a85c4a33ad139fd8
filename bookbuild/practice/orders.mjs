// Prints the orders in which lines of code can stand: reads [{"pieces": […], "made": […]}, …] as JSON, prints for each a
// list of lists of places.
import { readFileSync } from "node:fs";
import { orders } from "./order.mjs";

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(orders)));

// Run a test's script in Firefox: `node firefox.mjs FIREFOX SCRIPT`, the script's argument on stdin, its result on stdout.
// The script exports a function of the browser and of that argument; both argument and result are JSON.
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import puppeteer from "puppeteer-core";

const [executablePath, script] = process.argv.slice(2);
const { default: run } = await import(pathToFileURL(script));
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
try {
  process.stdout.write(JSON.stringify(await run(browser, JSON.parse(await text(process.stdin)))));
} finally {
  await browser.close();
}

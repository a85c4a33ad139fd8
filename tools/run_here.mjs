// Runs the cells of chapters in the page's own Python, in the page that this is evaluated in: two chapters at a time.
async ({ chapters, limit }) => {
  const root = new URL("_static/", location);
  const at = new URL("run_here/", root);
  const { files, later } = await (await fetch(new URL("files.json", at))).json();
  const unpacked = async ({ name }) => {
    const { body } = await fetch(new URL(name, at));
    return new Uint8Array(await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  };
  const [module, library, book] = await Promise.all(files.map(unpacked));
  const addresses = Object.entries(later).map(([path, name]) => [path, new URL(name, at).href]);
  const parts = { module: await WebAssembly.compile(module), library, book, later: Object.fromEntries(addresses) };

  /** Start a Python; return a function that asks it for something and gives what it told, and how that ended. */
  async function begin() {
    const worker = new Worker(new URL("run_here_worker.js", root));
    const ask = (question) =>
      new Promise((resolve) => {
        const told = [];
        const end = (kind, error, line = 0) => resolve({ told, kind, error, line });
        const timer = setTimeout(end, limit, "late", "late");
        worker.onmessage = ({ data }) => {
          for (const { header, content } of data) {
            if (!["ended", "broken"].includes(header.msg_type)) told.push([header.msg_type, content]);
            else clearTimeout(timer), end(header.msg_type, content.error, content.line);
          }
        };
        worker.postMessage(question);
      });
    const { kind, error } = await ask(parts);
    if (kind !== "ended") throw new Error(error);
    return { ask, end: () => worker.terminate() };
  }

  async function run({ page, cells }) {
    let python = await begin();
    const good = [];
    const results = [];
    for (const code of cells) {
      const question = { code, name: `cell ${results.length + 1}` };
      const result = code === null ? { told: [], kind: "left out", error: "left out", line: 0 } : await python.ask(question);
      results.push(result);
      if (result.kind === "ended") good.push(question);
      if (result.kind !== "late" && result.kind !== "broken") continue;
      python.end();
      python = await begin();
      for (const again of good) await python.ask(again);
    }
    python.end();
    return [page, results];
  }

  const waiting = [...chapters];
  const found = [];
  const lane = async () => {
    while (waiting.length) {
      found.push(await run(waiting.shift()));
      console.info(`${found.at(-1)[0]} has run.`);
    }
  };
  await Promise.all([lane(), lane()]);
  return Object.fromEntries(found);
};

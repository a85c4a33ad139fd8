// Runs Python on a Jupyter server, in a kernel of the page's own.
import { KernelAPI, KernelConnection, ServerConnection } from "@jupyterlab/services";

const PATIENCE = 60 * 1000; // milliseconds for a kernel to start
const SILENT = 20 * 1000; // milliseconds after which a kernel that has not answered gives its place to another
const PAUSE = 1000; // milliseconds for it to answer, or to stop, before it is asked again

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE));

async function start({ url, token, kernel: earlier }) {
  const wsUrl = url.replace(/^http/, "ws");
  const serverSettings = ServerConnection.makeSettings({ baseUrl: url, wsUrl, token, appendToken: true });
  if (earlier) await KernelAPI.shutdownKernel(earlier, serverSettings);
  const model = await KernelAPI.startNew({ name: "python3" }, serverSettings);
  // No comms: they serve widgets, which take a manager that is larger than all else here.
  const kernel = new KernelConnection({ model, serverSettings, handleComms: false });
  try {
    await answers(kernel, SILENT);
    return kernel;
  } catch (silence) {
    await kernel.shutdown();
    throw silence;
  }
}

/** Return a new kernel on `server`, in place of the reader's earlier one there: such a computer is small. */
export async function connect(server) {
  const silence = (_, reject) => setTimeout(reject, PATIENCE, new Error("no answer in a minute"));
  try {
    return await Promise.race([start(server).catch(() => start(server)), new Promise(silence)]);
  } catch (error) {
    throw new Error(`Python could not be started at ${new URL(server.url).host} (${error.message}).`);
  }
}

/** Wait until `kernel`, which has only been started, answers: what it says before all its lines stand is never heard. */
export async function answers(kernel, patience = PATIENCE) {
  for (let waited = 0; waited < patience; waited += PAUSE) {
    const heard = kernel.requestKernelInfo().then(() => true, pause);
    if (await Promise.race([heard, pause()])) return;
  }
  throw new Error("no answer");
}

/** Stop what `kernel` runs: ask until `stopped`, as it does not heed what comes before it has begun. */
export async function interrupt(kernel, stopped) {
  while (!stopped()) {
    await kernel.interrupt();
    await pause();
  }
}

/** Run `code`, give each message about its outputs to `show`, and return the error that ended it, or "". */
export async function execute(kernel, code, show) {
  const future = kernel.requestExecute({ code, allow_stdin: false });
  future.onIOPub = ({ header, content }) => show(header.msg_type, content);
  const { status, ename, evalue } = (await future.done).content;
  return status === "ok" ? "" : `${ename}: ${evalue}`.split("\n")[0];
}

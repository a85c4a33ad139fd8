// A computer with Python: the one that this tab had in the chapter before, or a new one from a BinderHub, whose build
// endpoint tells of the progress as server-sent events.
import { KernelAPI, KernelConnection, ServerConnection } from "@jupyterlab/services";

const SILENCE = 5 * 60 * 1000; // milliseconds without a word, after which Binder is given up
export const PATIENCE = 60 * 1000; // milliseconds for Python to start, or for the line to it to be mended
const LINE = 8 * 1000; // milliseconds for an answer, after which another line is laid
const DEAF = 20 * 1000; // milliseconds, after which a Python that has not answered gives its place to another
const BUILDING = "is building what the book needs, as it must for the first reader after a change";
const STARTING = "is starting the computer";
const PHASES = { building: BUILDING, fetching: BUILDING, pushing: BUILDING, built: STARTING, launching: STARTING };

/** Return the address and the token of a new Jupyter server. */
const launch = (build, tell, signal) =>
  new Promise((resolve, reject) => {
    const { host } = new URL(build);
    const events = new EventSource(build);
    let [silence, answered] = [undefined, false];
    const end = (settle, value) => {
      clearTimeout(silence);
      events.close();
      settle(value);
    };
    const fail = (reason) => end(reject, new Error(reason));
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(fail, SILENCE, `${host} has said nothing for five minutes.`);
    };
    events.onmessage = ({ data }) => {
      const { phase, url, token, message } = JSON.parse(data);
      answered = true;
      wait();
      if (phase === "ready") end(resolve, { url, token });
      else if (phase === "failed") fail(`${host} could not start a computer: ${message?.trim() || "it gave no reason."}`);
      else tell(`${host} ${PHASES[phase] ?? "has us wait for a place"}. Ten seconds to some minutes are usual.`);
    };
    events.onerror = () => fail(answered ? `The line to ${host} broke off.` : `${host} cannot be reached, or refuses.`);
    signal.addEventListener("abort", () => fail("cancelled"));
    wait();
  });

/** Return after a second, in which Python may answer, or stop, before it is asked again. */
export const pause = () => new Promise((resolve) => setTimeout(resolve, 1000));

/** Tell whether `kernel`, only just started, answers: what it says before all its lines stand is never heard. */
export async function answers(kernel, patience = PATIENCE) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const heard = kernel.requestKernelInfo().then(() => true, pause);
    if (await Promise.race([heard, pause()])) return true;
  }
  return false;
}

/** Tell whether `kernel`, which its server has started again, answers: a line may have been laid to where it was before. */
export async function answersAgain(kernel) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await kernel.reconnect())
    if (await answers(kernel, LINE)) return true;
  return false;
}

async function start({ url, token, kernel: earlier }) {
  const wsUrl = url.replace(/^http/, "ws");
  const serverSettings = ServerConnection.makeSettings({ baseUrl: url, wsUrl, token, appendToken: true });
  if (earlier) await KernelAPI.shutdownKernel(earlier, serverSettings); // such a computer is small
  const model = await KernelAPI.startNew({ name: "python3" }, serverSettings);
  // No comms: they serve widgets, which take a manager that is larger than all else here.
  const kernel = new KernelConnection({ model, serverSettings, handleComms: false });
  if (await answers(kernel, DEAF)) return kernel;
  await kernel.shutdown();
  throw new Error("no answer");
}

/** Tell whether this tab has a computer from the BinderHub at `build`, or had one in the chapter before. */
export const isLent = (build) => sessionStorage.getItem(build) !== null;

/** Return what is kept of that computer, which is forgotten until it is known to be there still; null where it is damaged. */
function taken(build) {
  const kept = sessionStorage.getItem(build);
  sessionStorage.removeItem(build);
  try {
    return JSON.parse(kept);
  } catch {
    return null;
  }
}

/** Return a kernel on a computer from the BinderHub at `build`; `tell` is told what happens until `signal` is aborted. */
export async function computer(build, tell, signal) {
  const python = async (server) => {
    const silence = new Promise((_, reject) => setTimeout(reject, PATIENCE, new Error("no answer in a minute")));
    const kernel = await Promise.race([start(server).catch(() => start(server)), silence]);
    sessionStorage.setItem(build, JSON.stringify({ ...server, kernel: kernel.id }));
    return kernel;
  };
  const earlier = taken(build);
  if (earlier) {
    tell("Going back to the computer that you had.");
    const kernel = await python(earlier).catch(() => undefined);
    if (kernel) return kernel;
  }
  tell(`Asking ${new URL(build).host} for a computer.`);
  const server = await launch(build, tell, signal);
  tell("The computer is there; starting Python.");
  return python(server).catch(({ message }) => {
    throw new Error(`Python could not be started at ${new URL(server.url).host} (${message}).`);
  });
}

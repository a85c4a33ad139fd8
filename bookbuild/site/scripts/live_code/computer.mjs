// A computer with Python: the one that this tab had in the chapter before, or a new one from Binder.
import { launch } from "./binder.mjs";
import { connect } from "./kernel.mjs";

const forget = (build) => sessionStorage.removeItem(build);
const remember = (build, server) => sessionStorage.setItem(build, JSON.stringify(server));
const remembered = (build) => JSON.parse(sessionStorage.getItem(build));

async function python(build, server) {
  const kernel = await connect(server);
  remember(build, { ...server, kernel: kernel.id });
  return kernel;
}

/** Return a kernel on a computer from the BinderHub at `build`; `tell` is told what happens until it is there. */
export async function computer(build, tell, signal) {
  const earlier = remembered(build);
  if (earlier) {
    tell("Going back to the computer that you had.");
    try {
      return await python(build, earlier);
    } catch {
      forget(build);
    }
  }
  tell(`Asking ${new URL(build).host} for a computer.`);
  const server = await launch(build, tell, signal);
  tell("The computer is there; starting Python.");
  return python(build, server);
}

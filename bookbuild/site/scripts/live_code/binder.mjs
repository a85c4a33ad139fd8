// Asks a BinderHub for a computer.  Its build endpoint tells of the progress as server-sent events.

const SILENCE = 5 * 60 * 1000; // milliseconds without a word, after which Binder is given up
const building = (host) => `${host} is building what the book needs, as it must for the first reader after a change.`;
const launching = (host) => `${host} is starting the computer.`;
const PHASES = { building, fetching: building, pushing: building, built: launching, launching };
const waiting = (host) => `Waiting for a place at ${host}.`;

/** Return the address and the token of a Jupyter server; `tell` is told what happens until `signal` is aborted. */
export const launch = (build, tell, signal) =>
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
      silence = setTimeout(() => fail(`${host} has said nothing for five minutes.`), SILENCE);
    };
    events.onmessage = ({ data }) => {
      const { phase, url, token, message } = JSON.parse(data);
      answered = true;
      wait();
      const reason = message?.trim() || "it gave no reason.";
      if (phase === "ready") end(resolve, { url, token });
      else if (phase === "failed") fail(`${host} could not start a computer: ${reason}`);
      else tell(`${(PHASES[phase] ?? waiting)(host)} Ten seconds to some minutes are usual.`);
    };
    events.onerror = () => fail(answered ? `The line to ${host} broke off.` : `${host} cannot be reached, or refuses.`);
    signal.addEventListener("abort", () => fail("cancelled"));
    wait();
  });

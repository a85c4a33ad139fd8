// The system that Python runs on in the page: files in memory, no network, one thread.
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI, wasi as defs } from "@bjorn3/browser_wasi_shim";

const LIBRARY = "usr/local/lib/python315.zip";
const ENVIRONMENT = {
  HOME: "/tmp",
  MINITRANSFORMER_CACHE: "/cache",
  NO_COLOR: "1",
  PYTHONDONTWRITEBYTECODE: "1",
};

/** A file that is fetched when it is first opened: a worker may wait. */
class Later extends File {
  constructor(url) {
    super([]);
    let bytes;
    Object.defineProperty(this, "data", { get: () => (bytes ??= fetched(url)), set: (value) => (bytes = value) });
  }
}

function fetched(url) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) throw new Error(`${url}: ${request.status}`);
  return new Uint8Array(request.response);
}

/** Yield names and contents of the files of a zip whose files are not packed. */
function* unzipped(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 0; view.getUint32(at, true) === 0x04034b50; ) {
    const [size, named, extra] = [view.getUint32(at + 18, true), view.getUint16(at + 26, true), view.getUint16(at + 28, true)];
    const start = at + 30 + named + extra;
    yield [new TextDecoder().decode(bytes.subarray(at + 30, at + 30 + named)), bytes.subarray(start, start + size)];
    at = start + size;
  }
}

/** Return the folder of all files: those of the zip `book`, those that come `later`, from their addresses, and Python's. */
function disk({ library, book, later }) {
  const root = new Map([["tmp", new Directory(new Map())]]);
  const put = (path, file) => {
    const [name, ...above] = path.split("/").reverse();
    let at = root;
    for (const part of above.reverse()) at = (at.get(part) ?? at.set(part, new Directory(new Map())).get(part)).contents;
    at.set(name, file);
  };
  put(LIBRARY, new File(library));
  for (const [path, bytes] of unzipped(book)) put(path, new File(bytes));
  for (const [path, url] of Object.entries(later)) put(path, new Later(url));
  const opened = new PreopenDirectory("/", root);
  opened.fd_fdstat_get = () => {
    const fdstat = new defs.Fdstat(defs.FILETYPE_DIRECTORY, 0);
    fdstat.fs_rights_base = fdstat.fs_rights_inherited = 0x1fffffffn; // else nothing can be written to
    return { ret: 0, fdstat };
  };
  return opened;
}

/** Return a file to which Python writes a JSON a line, each of which is told. */
function messages(tell) {
  const decoder = new TextDecoder();
  let line = "";
  const file = new ConsoleStdout((bytes) => {
    const lines = (line + decoder.decode(bytes, { stream: true })).split("\n");
    line = lines.pop();
    for (const one of lines) tell(JSON.parse(one));
  });
  file.fd_prestat_get = () => ({ ret: defs.ERRNO_BADF }); // it is no folder
  return file;
}

/** Wait, which Python asks for in time.sleep: the shim takes a time of day for a duration. */
function wait(view, at, event, count) {
  const now = () => (view.getUint32(at + 16, true) ? performance.now() : Date.now());
  const end = Number(view.getBigUint64(at + 24, true)) / 1e6 + (view.getUint16(at + 40, true) & 1 ? 0 : now());
  while (now() < end);
  for (let i = 0; i < 4; i++) view.setBigUint64(event + 8 * i, i ? 0n : view.getBigUint64(at, true), true);
  view.setUint32(count, 1, true);
  return 0;
}

/** Start Python and return a function that runs a piece of it; what it tells goes to `tell`, what it complains of too. */
export function python(files, tell) {
  const complaints = new ConsoleStdout((bytes) => {
    tell({ header: { msg_type: "stream" }, content: { name: "stderr", text: new TextDecoder().decode(bytes) } });
  });
  const variables = Object.entries(ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  const open = [new OpenFile(new File([])), complaints, complaints, disk(files), messages(tell)];
  const wasi = new WASI(["python"], variables, open, { debug: false });
  wasi.wasiImport.poll_oneoff = (at, event, _, count) => wait(new DataView(exports.memory.buffer), at, event, count);
  wasi.inst = new WebAssembly.Instance(files.module, { wasi_snapshot_preview1: wasi.wasiImport, host: { call: () => -1 } });
  const { exports } = wasi.inst;
  const run = (source) => {
    const code = new TextEncoder().encode(source);
    const at = exports.host_alloc(code.length) >>> 0;
    new Uint8Array(exports.memory.buffer).set(code, at);
    if (exports.turn(at, code.length)) throw new Error("it could not do what the page asks of it");
  };
  exports._initialize();
  run('import sys; sys.path[:0] = ["/book"]; import start, driver; del start, driver, sys');
  return { run, size: () => exports.memory.buffer.byteLength };
}

"""Servers for the tests, on loopback and a free port: of Jupyter, of Binder, of a site as GitHub Pages serves it."""

import contextlib
import functools
import gzip
import http.server
import json
import mimetypes
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import unquote, urlsplit

PATIENCE = 90  # seconds until a server that does not answer is given up


def answers(address):
    """Tell whether a server answers at `address`."""
    try:
        return urllib.request.urlopen(address, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def begun_at(runtime, base):
    """Return the address of the server that has written its port in a folder, nothing as long as none has."""
    try:
        return f"http://127.0.0.1:{json.loads(next(runtime.glob('jpserver-*.json')).read_text('utf8'))['port']}{base}"
    except (StopIteration, ValueError):  # there is no file yet, or it is not yet whole
        return ""


@contextlib.contextmanager
def jupyter(
    folder, home, *options, python=sys.executable, application="jupyterlab", start=None, base="", environment=None
):
    """Start a Jupyter server in `folder` with an empty `home`; give its address, without a slash, and its token.

    `application` is the module that is run, `start` a command in its place; `base` is the path that it serves below.
    What the server says is in `home`/server.log.  It takes a free port itself and writes which in `home`/runtime.
    """
    home.mkdir(parents=True, exist_ok=True)
    token, log, runtime = secrets.token_hex(), home / "server.log", home / "runtime"
    command = [*(start or [python, "-m", application]), "--no-browser", "--allow-root"]
    command += ["--port=0", "--ip=127.0.0.1", f"--ServerApp.base_url={base}/"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTHON"))}
    variables = inherited | {
        "HOME": str(home),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with log.open("w", encoding="utf-8") as said:
        server = subprocess.Popen(
            [*command, f"--IdentityProvider.token={token}", *options],
            cwd=folder,
            env=variables | (environment or {}),
            stdout=said,
            stderr=said,
        )
    try:
        begun = time.monotonic()
        while not (address := begun_at(runtime, base)) or not answers(f"{address}/api?token={token}"):
            if server.poll() is not None or time.monotonic() - begun > PATIENCE:
                raise RuntimeError(f"The Jupyter server did not start:\n{log.read_text('utf8')[-3000:]}")
            time.sleep(0.2)
        yield address, token
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@functools.cache
def packed(file):
    """Return what a file holds, packed but for fonts and pictures, which are."""
    return file.read_bytes() if file.suffix in (".woff2", ".png", ".gguf") else gzip.compress(file.read_bytes(), 6)


class FilesBelow(http.server.BaseHTTPRequestHandler):
    """Serve the folder `site`, packed, below the path `base`, and its page 404.html for all that is not there."""

    def __init__(self, *args, site, base, headers):
        self.site, self.base, self.headers_of_host = site, base, headers
        super().__init__(*args)

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer with the file that is asked for, or with the page 404.html."""
        path = unquote(urlsplit(self.path).path)
        file = self.site / path.removeprefix(f"{self.base}/")
        file = file / "index.html" if file.is_dir() else file
        is_there = path.startswith(f"{self.base}/") and file.is_file()
        shown = file if is_there else self.site / "404.html"
        self.send_response(200 if is_there else 404)
        self.send_header("Content-Type", mimetypes.guess_type(shown.name)[0] or "application/octet-stream")
        for name, value in self.headers_of_host.items():
            self.send_header(name, value)
        if packed(shown)[:2] == b"\x1f\x8b":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(packed(shown))


@contextlib.contextmanager
def served(site, base="", **headers):
    """Serve `site` below a path, on this machine alone, as GitHub Pages does; give its address, without a slash.

    A host may send `headers` of its own, with _ for -.
    """
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    handler = functools.partial(FilesBelow, site=site, base=base, headers=headers)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{base}"
        server.shutdown()


class Events(http.server.BaseHTTPRequestHandler):
    """Tell what the server was told to say, as BinderHub does: any origin may ask, and a held stream is kept alive."""

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer with a stream of events."""
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in self.server.events:
            while isinstance(event, threading.Event) and not event.wait(0.1):
                try:
                    self.wfile.write(b":keepalive\n\n")
                except OSError:
                    return self.server.gone.set()  # who asked has closed the stream
            if isinstance(event, dict):
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())


class BinderHub(http.server.ThreadingHTTPServer):
    """A stand-in for the endpoint of a BinderHub, at `build`, that makes computers and tells how far it is."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Events)
        self.build = f"http://127.0.0.1:{self.server_port}/build/gh/owner/name/main"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def says(self, *events, status=200):
        """Answer from now on with these events; a `threading.Event` among them holds the stream until it is set."""
        self.events, self.status, self.asked, self.gone = events, status, [], threading.Event()

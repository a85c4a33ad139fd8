"""Ask for every link of the book, README.md and CONTRIBUTING.md, and list the dead ones: `python -m tools.links`.

Sphinx's own check does the asking.  Some hosts refuse programs what they show to people: their answer, 403 or the
like, is no sign of a dead link and is only counted.  The list is also written to _build/dead-links.md.
"""

import json
import re
import subprocess
import sys

from bookbuild import ROOT
from bookbuild.base.files import written
from tools.environment import NO_NETWORK

BUILD = ROOT / "_build"
BOOK = """
from jupyter_book.cli.main import main
main(["build", ".", "--builder=custom", "--custom-builder=linkcheck"])
"""
LOOSE = "extensions=myst_parser", "root_doc=README", "include_patterns=README.md,CONTRIBUTING.md"
OPTIONS = ("-C", *(f"-D{option}" for option in LOOSE), "-Dlinkcheck_rate_limit_timeout=30")
COMMANDS = {
    "linkcheck": ("-c", BOOK),
    "linkcheck-loose": ("-m", "sphinx", "-q", "-b", "linkcheck", *OPTIONS, ".", "_build/linkcheck-loose"),
}
REFUSAL = re.compile(r"(401|403|405|406|418|429|999)\b")


def ask(name):
    """Run a check; return what it found of each link to another host."""
    output = BUILD / name / "output.json"
    output.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, *COMMANDS[name]], cwd=ROOT, capture_output=True, encoding="utf-8")
    if not output.is_file():  # a dead link alone is a failure of the command, too
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-2000:]}\nThe links could not be read: see above.")
    found = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    return [link for link in found if link["uri"].startswith("http")]


def sort_out(links):
    """Return the links that are dead and those that were refused; raise RuntimeError where nothing could be asked."""
    broken = [link for link in links if link["status"] in ("broken", "timeout")]
    if broken and len(broken) == len(links) and all(NO_NETWORK.search(link["info"]) for link in broken):
        raise RuntimeError("No link could be asked for: the check of the links needs the network; connect, then retry.")
    refused = [link for link in broken if REFUSAL.match(link["info"])]
    return [link for link in broken if link not in refused], refused


def listed(dead):
    """Return the dead links as a list in Markdown, each with its place and the reason."""
    lines = [f"- `{link['filename']}:{link['lineno']}` {link['uri']}: {link['info'][:200]}" for link in dead]
    return "\n".join(sorted(lines))


def main():
    """Check and print; return what a shell is told: 0, or the dead links."""
    try:
        links = [link for name in COMMANDS for link in ask(name)]
        dead, refused = sort_out(links)
    except (RuntimeError, OSError) as error:
        return str(error)
    print(f"{len(links)} links were asked for; {len(refused)} hosts refuse programs; {len(dead)} links are dead.")
    written(BUILD / "dead-links.md", listed(dead))
    return listed(dead) or 0


if __name__ == "__main__":
    sys.exit(main())

"""Write the explorables of a page with fewer letters: comments, line breaks and long names are for those who write.

An explorable brings its script and style sheet, so that it can be shown anywhere; on a page of the book the palette
that opens each of these style sheets is in the page's own already.
"""

import re
from pathlib import Path

from bookbuild.base.node import answer

MAKER = Path(__file__).with_suffix(".mjs")
EXPLORABLE = re.compile(
    r'(?P<begin><div class="mt-explorable"[^>]*><style>)(?::root\{--mt-[^}]*\}html\[data-theme=dark\][^}]*\})?'
    r"(?P<css>[^<]*)(?P<between></style><div></div><script>)(?P<js>.*?)(?=</script>)",
    re.DOTALL,
)


def shorter(codes):
    """Return codes, pairs (text, "js" or "css"), in fewer letters; ExtensionError says what esbuild cannot read."""
    asked = [{"code": code, "loader": loader} for code, loader in codes]
    return answer(MAKER, asked, "The explorables of a page could not be shortened")


def short(body):
    """Return the body of a page with its explorables in fewer letters."""
    found = [*EXPLORABLE.finditer(body)]
    codes = iter(shorter([(part[kind], kind) for part in found for kind in ("css", "js")]) if found else ())
    return EXPLORABLE.sub(lambda part: f"{part['begin']}{next(codes)}{part['between']}{next(codes)}", body)


def shorten(app, pagename, templatename, context, doctree):
    """Shorten the explorables of one page before its template is filled."""
    context["body"] = short(context.get("body", ""))

"""Write a formula in one line of the letters and signs that one would type, for the search and for screen readers."""

import re
from xml.etree import ElementTree

FORMS = {  # of the elements of MathML whose parts do not just follow one another
    "mfrac": "{}/{}",
    "msqrt": "√{}",
    "mroot": "root({}, {})",
    "msub": "{}_{}",
    "munder": "{}_{}",
    "msup": "{}^{}",
    "mover": "{}^{}",
    "msubsup": "{}_{}^{}",
    "munderover": "{}_{}^{}",
}
BETWEEN = {"mtable": "; ", "mtr": ", "}
SIGNS = {  # what is written otherwise at the end
    "^⊤": "ᵀ",
    "^2": "²",
    "^3": "³",
    "^(− 1)": "⁻¹",
    "^′": "′",
    "^ˆ": "\u0302",
    "^^": "\u0302",
    "_⏟": "",
    "^⏞": "",
}
BARE = re.compile(r"[^\W_]+\u0302?|[\d.]+|.|\([^()]*\)")  # needs no brackets
INDEXED = re.compile(r"[\w√ᵀ\u0302]+")  # needs none in a fraction or below a root
TIGHT = re.compile(r"(?<=[(\[]) | (?=[)\],;])| \u2061 (?=[(\[])")  # the last sign says that a function is applied


def formula_text(mathml):
    """Return a formula, MathML, in one line, such as softmax(Q Kᵀ/√d_k) V."""
    line = " ".join(text(ElementTree.fromstring(mathml)).split())
    return TIGHT.sub("", line).replace(" \u2061", "")


def text(element):
    """Return an element of MathML in one line."""
    kind = element.tag.rpartition("}")[2]
    parts = [text(part) for part in element] or [element.text or ""]
    if form := FORMS.get(kind):
        whole = parts if form.count("{") > 1 else [" ".join(parts)]
        line = form.format(*(grouped(part.strip(), kind in ("mfrac", "msqrt")) for part in whole))
        sign = next((sign for sign in SIGNS if line.endswith(sign)), "")
        return line.removesuffix(sign) + SIGNS.get(sign, "")
    return BETWEEN.get(kind, " ").join(parts)


def grouped(part, indexed):
    """Return a part of a formula in brackets, unless it is one name, number or sign; a name may be `indexed`."""
    return part if BARE.fullmatch(part) or (indexed and INDEXED.fullmatch(part)) else f"({part})"

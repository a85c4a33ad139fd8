"""Say a formula in one line of text, from its MathML: what a screen reader says where it meets the formula in a PDF."""

ONE = "{}"
FORMS = {  # element -> how its children are said
    "mfrac": "{}/{}",
    "msub": "{}_{}",
    "msup": "{}^{}",
    "msubsup": "{}_{}^{}",
    "munder": "{}_{}",
    "mover": "{}^{}",
    "munderover": "{}_{}^{}",
    "mroot": "root({}, {})",
}
SAID = {"⏟": "underbrace", "⏞": "overbrace", "\u2061": " ", "\u2062": "", "\xa0": " "}
LEAVES = ("mi", "mo", "mn", "mtext", "ms")


def bracketed(text):
    """Put brackets around what is more than one name or number."""
    return text if text.isalnum() or len(text) == 1 else f"({text})"


def said(element):
    """Return what an element says, not yet tidied."""
    children = [child for child in element.find_all(True, recursive=False) if child.name != "annotation"]
    if element.name in LEAVES:
        return "".join(SAID.get(character, character) for character in element.get_text())
    parts = [said(child) for child in children]
    if element.name in FORMS:
        return FORMS[element.name].format(*(bracketed(" ".join(part.split())) for part in parts))
    if element.name == "msqrt":
        return f"√{bracketed(' '.join(' '.join(parts).split()))}"
    return {"mtable": "; ", "mtr": ", "}.get(element.name, " ").join(parts)


def spoken(math):
    """Return the formula in a `math` element as text: the root of d_k is √(d_k)."""
    text = " ".join(said(math).split())
    for tight, loose in (("( ", "("), (" )", ")"), (" ,", ","), ("[ ", "["), (" ]", "]")):
        text = text.replace(tight, loose)
    return text

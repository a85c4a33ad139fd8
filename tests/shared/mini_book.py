"""A book of one chapter that keeps every rule: each test of a rule breaks one thing in a copy of it."""

from tests.shared.notebook_header import HEADER

EXERCISE = """```{exercise-start} Half NUMBER
:label: ex-halving-NUMBER
```

*Easy, 2 minutes.*
Halve 3.0 by hand.

:::{dropdown} Hint
What times two is three?
:::

```{code-cell} ipython3
answer = 3.0
check("halving-NUMBER", ...)
```

```{exercise-end}
```

```{solution-start} ex-halving-NUMBER
:class: dropdown
```

```{code-cell} ipython3
---
jupyter:
  source_hidden: true
---
# by hand
check("halving-NUMBER", 3.0 / 2)
```

```{solution-end}
```
"""
CHECKS = {f"halving-{number}" for number in "1234"}
FILES = {
    "_config.yml": """title: Halves
repository: {url: https://github.com/bakers/halves, branch: trunk}
parse:
  myst_enable_extensions: [amsmath, attrs_inline, colon_fence, deflist, dollarmath]
""",
    "tests/text/counted/01-halving.toml": """[[claim]]
says = "100 say it in this model"
shown = "19466"
sentences = 200
""",
    "_toc.yml": """root: index
parts:
  - numbered: 1
    chapters: [file: chapters/01-halving]
  - chapters: [file: reference/glossary, file: reference/teaching]
""",
    "chapters/01-halving.md": HEADER
    + r'''
(ch-halving)=
# Halving

% Question: How much is left?
% Job: Cut it in two.
% Projector: a loaf

:::{admonition} What you will be able to do
:class: objectives

- Compute half of a number.
- Explain why halving twice is a quarter.
- Predict what is left after ten steps.

Builds on nothing.
*Reading time:* 10 minutes, exercises 8 more.
:::

A loaf of 1.5 kg is cut again and again: how much is left?

## A loaf

```{code-cell} ipython3
from companion import figures
from companion.checks import check
loaf = 1.5
print(loaf / 2, loaf / 7, 2 * 9733)
```

Half is 0.75 kg, a seventh 0.21 kg; Sieve {cite:p}`sieve2001` measured 0.1234 kg.
Two sacks of 9,733 grains hold 19,466 grains.
Of 200 loaves 100 say _it_ in this model.

```{code-cell} ipython3
def halve(x):
    """Return half; here in other words than the module's."""
    return x / 2
```

The {term}`half` of $x$ is

$$
h(x) = 0.5\,x
$$ (eq-half)

**Predict.** What is half of half a loaf?
- a quarter
- all of it

```{code-cell} ipython3
assert halve(0.5) == 0.25
```

:::{dropdown} What each choice says
- Right: cut it, and cut one of the pieces.
- That is what you had before you cut.
:::

| loaf | left |
|------|------|
| 1.5  | 0.75 |

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: A loaf of 1.5 kg and its half of 0.75 kg.
    name: fig-loaf
tags: [hide-input]
---
figures.loaf(loaf, alt="A loaf of 1.5 kg beside its half of 0.75 kg.")
```

```{code-cell} ipython3
:tags: [raises-exception]

def halve(x):
    return x >> 1
halve(1.5)
```

```{code-cell} ipython3
:tags: [raises-exception]

not even Python
```

## A slice

A slice, by `make slices`, weighs 0.0321 kg: is it 0.0654 kg if the loaf was 1.5 kg?

```{code-cell} ipython3
assert loaf / 24 == 0.0625
loaf / 2 / 2
```

Half of 0.75 kg is 0.375 kg, a twenty-fourth 0.0625 kg.

PROSE

## Exercises

EXERCISES

## Summary

- A half is a product with 0.5.
- Two halves are a whole.
- A quarter is a half of a half.
- Ten steps leave a thousandth.
- Nothing is ever used up.

## Common misreadings

Halving never reaches zero.

## Further reading

{cite:t}`sieve2001` cut real bread.
''',
    "chapters/minitransformer/__init__.py": '"""The helper of halves."""\n',
    "chapters/minitransformer/halving.py": r'''"""Halves; built in chapter 1."""


def halve(x):
    """Return half of `x`; shape (…) -> the same; built in chapter 1."""
    return x / 2
''',
    "chapters/companion/__init__.py": '"""What helps with halves."""\n',
    "chapters/companion/checks.py": r'''"""The checks of the exercises."""

CHECKS = {f"halving-{i}": 1.5 for i in (1, 2, 3, 4)}


def check(name, answer):
    """Say whether `answer` is right; used in chapter 1."""
    print("✓" if CHECKS[name] == answer else "✗")
''',
    "chapters/companion/figures.py": r'''"""The figures."""


def loaf(weight, *, alt):
    """Draw a loaf; used in chapter 1."""
    print(weight, alt[:1])


def machine(numbers):
    """Draw the chapters; used on the cover."""


def machine_numbers():
    """Return what is drawn; used on the cover."""
''',
    "index.md": HEADER
    + r"""
# The book of halves

A loaf of 1.5 kg halves to 0.75 kg.

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: The loaf, drawn.
    name: fig-cover
---
from companion import figures
figures.loaf(1, alt="A loaf that lies on a board.")
figures.machine(figures.machine_numbers())
```
""",
    "README.md": "| chapter | the question |\n|---|---|\n",
    "reference/teaching.md": """# Teaching

| chapter | reading | exercises | on the projector |
|---|---|---|---|

## Three weeks

Chapters left out: 1.

| week | read | set | at home |
|---|---|---|---|
| 1 | 1 | all | |
| 2 | 1 | easy and medium | |
| 3 | 1 | 1: Half 1, Half 2 | |

## The end
""",
    "reference/glossary.md": r"""# Glossary

```{glossary}
half
  One of two equal parts.
```
""",
    "references.bib": r"""@book{sieve2001,
  author = {Sieve, Ada},
  title = {Bread by Halves},
  publisher = {Crust},
  year = {2001},
  url = {https://example.org/bread}
}
""",
    "Makefile": "all:\nslices:\n",
    "tests/text/cited_numbers.toml": r"""[[number]]
chapter = "01-halving"
value = "0.1234"
source = "sieve2001"

[[number]]
chapter = "01-halving"
value = "0.0321"
source = "make slices"

[[number]]
chapter = "01-halving"
value = "0.0654"
source = "posed: a guess that is wrong"
""",
}
FILES["chapters/01-halving.md"] = (
    FILES["chapters/01-halving.md"]
    .replace("PROSE\n", "Half of a half is a quarter.\n" * 250)
    .replace("EXERCISES\n", "\n".join(EXERCISE.replace("NUMBER", number) for number in "1234"))
)

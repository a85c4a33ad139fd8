"""A book of two chapters that has one of everything that the notebook copies translate."""

from tests.shared.book_rules import HEADER

ADDRESS = "https://bakers.github.io/halves"
FILES = {
    "_config.yml": """title: Halves
repository: {url: https://github.com/bakers/halves, branch: trunk}
parse:
  myst_enable_extensions: [amsmath, attrs_inline, colon_fence, deflist, dollarmath]
bibtex_bibfiles: [references.bib]
""",
    "_toc.yml": """format: jb-book
root: index
parts:
  - numbered: 1
    chapters:
      - file: chapters/01-loaf
  - numbered: 1
    chapters:
      - file: chapters/02-slice
  - chapters:
      - file: reference/glossary
""",
    "references.bib": r"""
@book{sieve2001, author = {Sieve, Ada}, year = {2001}, title = {Bread}, publisher = {Crust}, doi = {10.1/a(b)<c>}}
@misc{rye2002, author = {Rye, Al and van Oat, B{\"o}}, year = {2002}, title = {Dough}, url = {https://rye.org/x(y)}}
@misc{bran2003, author = {Bran, A. and Malt, B. and Hops, C.}, year = {2003}, title = {Beer}}
""",
    "reference/glossary.md": """# Glossary

```{glossary}
half
  One of two equal parts.

Great Loaf
  A loaf of 3 kg.
```
""",
    "chapters/01-loaf.md": HEADER
    + """
(ch-loaf)=
# The loaf

```{math}
:label: eq-whole
w = 1
```

```{math}
u = 2
```

:::{dropdown} More
```{math}
:label: eq-within
v = 3
```
:::

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    caption: A loaf.
    name: fig-loaf
---
draw(1)
```
""",
    "chapters/02-slice.md": HEADER
    + """
(ch-slice)=
# The slice

How thick is a slice?

```{code-cell} ipython3
loaf = 1.5
```

```{code-cell} ipython3
:tags: [raises-exception]

loaf >> 1
```

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    caption: A slice of $\\tfrac12$, as in {numref}`fig-loaf`.
    name: fig-slice
---
draw(2)
```

$$
s = w / 2
$$ (eq-slice)

## Exercises

```{exercise-start} Half of $x$
:label: ex-half
```
Halve it.

```{code-cell} ipython3
half = ...
```

```{exercise-end}
```

```{solution-start} ex-half
:class: dropdown
```
Divide by two.

```{code-cell} ipython3
---
jupyter:
  source_hidden: true
---
half = loaf / 2
```

Nothing is lost.
```{solution-end}
```

```{exercise-start} A quarter
:label: ex-quarter
```
Again.

```{exercise-end}
```

```{solution-start} ex-quarter
:class: dropdown
```

```{code-cell} ipython3
half / 2
```

```{solution-end}
```

## Summary

Halves.
""",
}

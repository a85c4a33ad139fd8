"""A formula is written in one line, as one would type it."""

import pytest

from bookbuild.read.formula_text import formula_text

E, X, D_K = "<mi>e</mi>", "<mi>x</mi>", "<msub><mi>d</mi><mi>k</mi></msub>"
PLUS_1 = "<mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow>"


@pytest.mark.parametrize(
    ("mathml", "line"),
    [
        (f"<msup>{E}{PLUS_1}</msup>", "e^(x + 1)"),
        (f"<msup>{E}<msub>{X}<mi>i</mi></msub></msup>", "e^(x_i)"),
        (f"<mfrac><mi>a</mi><msqrt>{D_K}</msqrt></mfrac>", "a/√d_k"),
        (f"<mfrac>{PLUS_1}<mn>0.5</mn></mfrac>", "(x + 1)/0.5"),
        (f"<msqrt>{X}<mo>−</mo><mi>y</mi></msqrt>", "√(x − y)"),
        ("<msubsup><mi>W</mi><mi>K</mi><mo>⊤</mo></msubsup>", "W_Kᵀ"),
        (f"<msub><mover>{X}<mo>^</mo></mover><mi>i</mi></msub>", "x̂_i"),
        (f"<munder>{PLUS_1}<mo>⏟</mo></munder>", "(x + 1)"),
        ("<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd></mtr></mtable>", "1, 2; 3"),
        (f"<mrow><mi>f</mi><mo>\u2061</mo><mo>(</mo>{X}<mo>)</mo></mrow>", "f(x)"),
        (f"<mrow><mi>ln</mi><mo>\u2061</mo>{X}</mrow>", "ln x"),
    ],
)
def test_a_formula_is_written_in_a_line(mathml, line):
    assert formula_text(f'<math xmlns="http://www.w3.org/1998/Math/MathML">{mathml}</math>') == line

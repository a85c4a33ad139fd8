"""The drawings of a page in fewer letters: the same points, the same texts."""

import re

import pytest

from bookbuild.site.small_drawings import short, short_path
from minitransformer.figures import Picture, heatmap

PATHS = {
    "M 1.50 2.00\nL 3.20 2.00\nL 3.20 4.10\nL 1.50 4.10\nz\n": "M1.5 2h1.7v2.1h-1.7z",
    "M 0 10\nL -2 10\nL -2 0.25\nL 0 0.25\nL 0 10\nz\n": "M0 10h-2v-9.75h2z",
    "M 100 20.00\nL 30.10 40\nL 30.10 41\n": "M100 20L30.1 40L30.1 41",
    "M 0.00 1\nC 1.005 2.00 3 4 5 6\nz": "M0 1C1.005 2 3 4 5 6z",
    "M 1 2\nL 3 2\nL 3 4\nL 2 4\nz": "M1 2L3 2L3 4L2 4z",  # no rectangle
}


@pytest.mark.parametrize(("path", "shorter"), PATHS.items())
def test_a_path_keeps_its_points(path, shorter):
    assert short_path(path) == shorter


def test_what_is_not_seen_goes():
    palette = "<style>:root{--mt-ink:#000;}html[data-theme=dark]{--mt-ink:#fff}</style>"
    unseen = '<path d="M 0 0\nL 1 1\n" style="fill: none"/><g>\n<g/>\n<g>\n<g/></g>\n</g>'
    seen = '<path d="M 0 0\nL 1 1\n" style="fill: none; stroke: red"/>\n<style>.a{}</style>'
    svg = f'<svg class="mt-figure">{palette}{unseen}\n{seen}</svg>'
    expected = '<path d="M0 0L1 1" style="fill: none; stroke: red"/><style>.a{}</style>'
    assert short(svg) == f'<svg class="mt-figure">{expected}</svg>'


def test_texts_stay_as_they_are():
    svg = Picture(
        9, 9, "<text>a 1.50\n  b</text>\n<text><tspan>c</tspan> <tspan>d</tspan></text>", alt="A  z."
    )._repr_html_()
    assert "<text>a 1.50\n  b</text><text><tspan>c</tspan> <tspan>d</tspan></text>" in short(svg)
    assert 'aria-label="A  z."' in short(svg)


def test_a_heat_map_keeps_its_cells_and_half_its_weight():
    svg = heatmap([[0.2, 0.7], [0.2, 1]], ["a", "b"], ["c", "d"], alt="Four cells.", digits=None)._repr_html_()
    fills = re.findall(r'd="([^"]*)"[^>]*opacity: ([\d.]+)', short(svg))
    assert [path.count("M") for path, _opacity in fills] == [2, 1, 1]  # cells of one shade are one path
    assert re.fullmatch(r"(?:M[\d.]+ [\d.]+h[\d.]+v[\d.]+h-[\d.]+z)+", fills[0][0])

"""The header of every page with cells, which lets JupyterLab save it byte for byte."""

HEADER = """---
jupytext:
  cell_metadata_filter: jupyter,mystnb,tags,-all
  notebook_metadata_filter: -jupytext.text_representation.format_version,-jupytext.text_representation.jupytext_version
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---
"""

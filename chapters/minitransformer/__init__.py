"""The helper package of *Transformers from the Dot Product Up*: one module a chapter, built in that chapter."""

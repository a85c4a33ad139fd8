"""The helper package of *Transformers from the Dot Product Up*: one concept, one module, built in its chapter."""

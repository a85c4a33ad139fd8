"""What the book's models are asked to do: turn rows round, say numbers in French, translate sentences."""

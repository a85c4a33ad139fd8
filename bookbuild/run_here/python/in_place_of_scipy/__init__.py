"""What the book uses of SciPy, written small: sparse arrays, their singular vectors, correlation of ranks."""

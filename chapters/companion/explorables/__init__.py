"""The explorables, one folder each, and `shared`, what they have in common."""

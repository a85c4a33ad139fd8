"""The class kit: notebooks to hand out, and grading in a sandbox."""

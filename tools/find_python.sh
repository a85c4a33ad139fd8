#!/bin/sh
# Print a Python that the book runs on: $PYTHON where it is given, else the first that fits.
# Without one, say in a sentence what was tried and what to do.

set -- .venv/bin/python python3 python3.13 python3.12 python3.11 python
[ -z "$PYTHON" ] || set -- "$PYTHON"

for name in "$@"; do
    fits=$("$name" -c 'import sys; print((3, 11) <= sys.version_info < (3, 14))' 2>/dev/null)
    [ "$fits" != True ] || { echo "$name"; exit; }
done

echo "The book needs Python 3.11, 3.12 or 3.13, and none of these is one: $*." \
    "Install one, or name it, as in \`make book PYTHON=/path/to/python3.12\`." >&2
exit 1

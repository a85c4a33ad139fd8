#!/bin/sh
# Print a Python that the book runs on: $PYTHON where it is given, else the first that fits.
# Without one, say in a sentence what was found and what to do.

if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
    found="PYTHON=$PYTHON does not run"
else
    set -- .venv/bin/python python3 python3.13 python3.12 python3.11 python
    found="no Python was found"
fi

versions=
for name in "$@"; do
    version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $version in
        3.11 | 3.12 | 3.13) echo "$name"; exit 0 ;;
    esac
    versions="$versions${versions:+, }$name is Python $version"
done

echo "The book needs Python 3.11, 3.12 or 3.13, but ${versions:-$found}:" \
    "install one of them, or name it, as in \`make book PYTHON=/path/to/python3.12\`." >&2
exit 1

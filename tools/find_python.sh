#!/bin/sh
# Print a Python that the book runs on: $PYTHON where it is given, else the first that fits, else one that uv has or
# fetches, where uv (https://docs.astral.sh/uv) is installed or lies in .uv.
# Without one, say in a sentence what was found and what to do.

if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
    found="PYTHON=$PYTHON does not run"
else
    set -- .venv/bin/python python3 python3.13 python3.12 python3.11 python
    found="no Python was found"
fi

versions=
pip=
for name in "$@"; do
    version=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $version in
        3.11 | 3.12 | 3.13) echo "$name"; exit 0 ;;
        3.*) [ -n "$pip" ] || { "$name" -m pip --version >/dev/null 2>&1 && pip=$name; } ;;
    esac
    versions="$versions${versions:+, }$name is Python $version"
done
says="The book needs Python 3.11, 3.12 or 3.13, but ${versions:-$found}:"
name_it="name one, as in \`make book PYTHON=/path/to/python3.12\`"

if [ -n "$PYTHON" ]; then
    echo "$says $name_it, or none, and one is looked for." >&2
    exit 1
fi

for uv in uv .uv/bin/uv; do
    "$uv" --version >/dev/null 2>&1 || continue
    fitting() { "$uv" python find --system --no-project '>=3.11,<3.14' 2>/dev/null; }
    fitting && exit 0
    echo "Fetching Python 3.13 with uv (once)." >&2
    "$uv" python install 3.13 >&2 && fitting && exit 0
    echo "$says uv could not fetch one, for the reason above; connect, then run the same command again." >&2
    exit 1
done

# Into a folder: pip does so, too, where the system manages its Python and lets pip install nothing (PEP 668).
get_uv="install uv (https://docs.astral.sh/uv)"
[ -z "$pip" ] || get_uv="run \`$pip -m pip install --target .uv uv\`"
echo "$says $get_uv, then the same command again, which fetches Python 3.13 by it;" \
    "or install one of them yourself, or $name_it." >&2
exit 1

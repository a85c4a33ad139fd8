"""Cut a WebAssembly module: the bodies of functions that nothing of ours calls give way to ones that stop it.

Numbers, tables and data stay, so that nothing else in the module has to change.  Other functions can be altered.
"""

CODE, CUSTOM = 10, 0  # kinds of sections
STOP = b"\x00\x00\x0b"  # the body of a function: no variables, `unreachable`
NOTHING = b"\x00\x0b"  # of one that returns at once
AT_START = ("_GLOBAL__sub_I_", "__cxx_global_")  # what C++ calls before anything else, and may not stop


def read_leb128(data, at):
    """Return the unsigned LEB128 number at a place in `data`, and the place behind it."""
    found = shift = 0
    while True:
        byte, at = data[at], at + 1
        found |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return found, at


def leb128(value):
    """Return a number as unsigned LEB128."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def sections(module):
    """Yield the kind and the content of each section."""
    at = 8  # behind the magic number and the version
    while at < len(module):
        kind = module[at]
        size, at = read_leb128(module, at + 1)
        yield kind, module[at : at + size]
        at += size


def vector_items(content):
    """Yield the parts of a vector of parts that begin with their sizes."""
    count, at = read_leb128(content, 0)
    for _ in range(count):
        size, at = read_leb128(content, at)
        yield content[at : at + size]
        at += size


def function_names(content):
    """Return the names of functions by their numbers, from the content of the section of names."""
    size, at = read_leb128(content, 0)
    at += size
    while content[at] != 1:  # the part about functions
        size, at = read_leb128(content, at + 1)
        at += size
    _, at = read_leb128(content, at + 1)
    count, at = read_leb128(content, at)
    found = {}
    for _ in range(count):
        function, at = read_leb128(content, at)
        size, at = read_leb128(content, at)
        found[function] = content[at : at + size].decode("utf8", "replace")
        at += size
    return found


def altered(name, body, changes):
    """Return the body of a function in which each `old` of the changes, pairs of bytes, has given way to its `new`."""
    for old, new in changes:
        if old not in body:
            raise ValueError(f"{name} does not hold {old.hex()}; expected the module of this version")
        body = bytes(body).replace(old, new)
    return body


def cut_module(module, is_cut, changes):
    """Return the module without custom sections and without the functions of which `is_cut(place, name)` is true.

    A function's place counts those that the module defines, in the order in which they were linked.  `changes` holds,
    by the names of functions, pairs of bytes, of which the first are replaced; ValueError where they are not there.
    """
    found = list(sections(module))
    custom = (content for kind, content in found if kind == CUSTOM)
    named = function_names(next(content for content in custom if content.startswith(b"\x04name")))
    bodies = list(vector_items(next(content for kind, content in found if kind == CODE)))
    first = len(named) - len(bodies)  # those before are imported
    for place in range(len(bodies)):
        name = named[first + place]
        if is_cut(place, name):
            bodies[place] = NOTHING if name.startswith(AT_START) else STOP
        else:
            bodies[place] = altered(name, bodies[place], changes.get(name, ()))
    code = b"".join([leb128(len(bodies)), *(part for body in bodies for part in (leb128(len(body)), body))])
    kept = [(kind, code if kind == CODE else content) for kind, content in found if kind != CUSTOM]
    return module[:8] + b"".join(bytes([kind]) + leb128(len(content)) + content for kind, content in kept)

"""Debugging exercises: a line of code to mend on a page; `check` has judged every choice of what is wrong."""

import itertools


def mend_data(answer):
    """Return what the page needs to judge a repair: the lines that may be wrong, and the verdict on every choice."""
    name, causes = answer.name, answer.form.causes
    source = answer.code.rstrip("\n").split("\n")
    places = []
    for line in causes:
        found = [i for i, text in enumerate(source) if text.strip() == line]
        if len(found) != 1:
            raise ValueError(f"{line!r} stands {len(found)} times in the code of {name}; give a line that stands once.")
        places += found
    choices = []
    for place, ideas in zip(places, causes.values()):
        indent = source[place][: -len(source[place].lstrip())]
        choices.append([(cause, indent + code.replace("\n", f"\n{indent}")) for cause, code in ideas.items()])
    says = {}
    for state in itertools.product(*(range(-1, len(options)) for options in choices)):
        changed = list(source)
        for place, options, chosen in zip(places, choices, state):
            if chosen >= 0:
                changed[place] = options[chosen][1]
        says[",".join(map(str, state))] = answer.says("\n".join(changed))
    mended = [state for state, hint in says.items() if not hint]
    if len(mended) != 1:
        raise ValueError(f"One choice of causes has to mend {name}, and no other; these do: {mended}.")
    says = {
        state: hint if not hint or hint in answer.task.wrong else how_far(state, mended[0], name)
        for state, hint in says.items()
    }
    return {"places": places, "choices": choices, "says": says}


def how_far(state, right, name):
    """Return what to say of causes of which `check` knows no more than that the result is another one."""
    chosen = [pair for pair in zip(state.split(","), right.split(",")) if pair[0] != "-1"]
    found = sum(mine == its for mine, its in chosen)
    if found == len(chosen):
        raise ValueError(
            f"{name} has no hint for {state}, which mends a part; add what is left to the Check's `wrong`."
        )
    if found:
        return "not yet: a part of that is right, and a part is not."
    return "not yet: that is not what is wrong."

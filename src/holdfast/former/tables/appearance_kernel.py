"""A compiled kernel that puts the values of a dictionary into the order in which rows have them."""

from holdfast.compiled import compiled


@compiled(nogil=True)
def by_appearance(codes, names, places, used, number, found):
    """Number what comes for the first time; a code says at which name a row is, below 0 at none.
    How many have a number, when so many had one before."""
    for row in range(len(codes)):
        name = names[codes[row]] if codes[row] >= 0 else -1
        if name < 0:
            found[row] = -1
            continue
        if places[name] < 0:
            places[name] = number
            used[number] = name
            number += 1
        found[row] = places[name]
    return number

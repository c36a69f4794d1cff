"""A walk over a value that was read at once. In C it takes a twentieth of the time of reading."""

from __future__ import annotations

from typing import Any, Final

COMPILED: Final = not __file__.endswith(".py")


def spelled(value: Any, depth: int, keys: int) -> int:
    """The characters that any text of this value has at least.

    -1 if it nests deeper than `depth`, which also bounds the recursion, or if an object in it has
    more than `keys` keys.
    """
    if depth <= 0:
        return -1
    size = 1
    if type(value) is dict:
        members = value
        if len(members) > keys:
            return -1
        for key, item in members.items():
            size += 4 + len(key)
            if type(item) is str:
                size += len(item)
            elif type(item) is dict or type(item) is list:
                inner = spelled(item, depth - 1, keys)
                if inner < 0:
                    return -1
                size += inner
    elif type(value) is list:
        items = value
        for item in items:
            size += 1
            if type(item) is str:
                size += len(item)
            elif type(item) is dict or type(item) is list:
                inner = spelled(item, depth - 1, keys)
                if inner < 0:
                    return -1
                size += inner
    return size

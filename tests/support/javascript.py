"""What tests share that compare Python and JavaScript: `peer.js` does in node what they do here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

from support import tries

Ask = Callable[..., Any]
INDEX = re.compile("0|[1-9][0-9]{0,9}")


def examples(count: int) -> settings:
    # The peer is shared by all examples: it keeps nothing from one job to the next.
    # Documents take their time to be drawn on a machine that is busy.
    fine = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=tries(count), deadline=None, suppress_health_check=fine)


def is_index(key: str) -> bool:
    return INDEX.fullmatch(key) is not None and int(key) < 2**32 - 1


def in_js_order(value: Any) -> Any:
    """A value as JavaScript has it: keys like indices first, one kind of number, no -0, UTF-16."""
    if isinstance(value, dict):
        first = sorted(filter(is_index, value), key=int)
        rest = [key for key in value if not is_index(key)]
        return [(in_js_order(key), in_js_order(value[key])) for key in (*first, *rest)]
    if isinstance(value, list):
        return [in_js_order(item) for item in value]
    if type(value) in (int, float):
        # Equal for 1 and 1.0, different for True; and exact.
        return ("number", value + 0 if value else 0)
    if isinstance(value, str):
        # Two halves of a pair that come one after the other are a character there.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return value


def agree(theirs: str | None, ours: Any) -> bool:
    """Is this JSON text of JavaScript our value? None: nothing yet, which is None here too."""
    return in_js_order(None if theirs is None else json.loads(theirs)) == in_js_order(ours)


def spelled_message(message: str) -> str:
    """A message without characters that node knows and this Python does not."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)

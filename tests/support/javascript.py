"""What tests share that compare Python and JavaScript: `peer.js` does in node what they do here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from hypothesis import HealthCheck, settings

from jsonrill import Document, InvalidJSON, LimitExceeded, Limits, Parser
from jsonrill.wire import to_wire
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


def told(error: InvalidJSON | LimitExceeded) -> list[Any]:
    fields = error.to_dict()
    fields["message"] = spelled_message(fields["message"].partition(": pass limits=")[0])
    return [type(error).__name__, fields]


def report(cut: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """All that Python says of a text, as the peer answers it."""
    limits = {"limits": Limits(**options["limits"])} if "limits" in options else {}
    arguments = {**options, **limits}
    reader, parser = Document(**arguments), Parser(**arguments)
    values, fragments, error = [], [], None
    for piece in (*cut, None):
        try:
            fragments += parser.flush() if piece is None else parser.feed(piece)
        except (InvalidJSON, LimitExceeded) as raised:
            error = told(raised)
            fragments += raised.fragments
        try:
            reader.flush() if piece is None else reader.feed(piece)
        except (InvalidJSON, LimitExceeded):
            pass
        values += reader.finished
        if error:
            break
    return {
        "values": [*values, reader.value],
        "error": error,
        "errors": [told(one) for one in reader.errors],
        "repairs": [one._asdict() for one in reader.repairs],
        "fragments": [(to_wire(one), one.offset, one.document) for one in fragments],
    }


def merged(fragments: Iterable[Any]) -> list[Any]:
    out: list[Any] = []
    for wire, offset, number in fragments:
        wire = dict(wire)
        if wire["kind"] == "PartialString" and out and out[-1][0]["kind"] == "PartialString":
            out[-1][0]["textValue"] += wire["textValue"]
        else:
            if wire["kind"] == "CompleteNumber":
                wire.pop("value", None)  # its text tells more
            out.append((wire, offset, number))
    return [in_js_order(list(one)) for one in out]


def spelled(error: list[Any] | None) -> Any:
    if error is None:
        return None
    name, fields, *_ = error
    return [name, {**fields, "message": spelled_message(fields["message"])}]


def differences(ask: Ask, jobs: list[tuple[list[str], dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """What the two languages do not say alike of these texts."""
    texts = [{"pieces": cut, "options": {**options, "numbers": "exact"}} for cut, options in jobs]
    different: list[tuple[Any, ...]] = []
    for (cut, options), theirs in zip(jobs, ask("repaired", texts=texts), strict=True):
        ours = report(cut, options)
        same = {
            "error": spelled(theirs["error"]) == spelled(ours["error"]),
            "errors": [*map(spelled, theirs["errors"])] == [*map(spelled, ours["errors"])],
            "repairs": theirs["repairs"] == ours["repairs"],
            "values": len(theirs["values"]) == len(ours["values"])
            and all(map(agree, theirs["values"], ours["values"])),
            "fragments": merged(theirs["fragments"]) == merged(ours["fragments"]),
        }
        wrong = [name for name, equal in same.items() if not equal]
        if wrong:
            both = {name: (ours[name], theirs[name]) for name in wrong}
            different.append((cut, options, both))
    return different


def check_alike(ask: Ask, texts: Iterable[str], **options: bool) -> None:
    """Both say the same of each of these texts, whole and in characters."""
    left = iter(texts)
    while some := list(islice(left, 500)):
        jobs = [(cut, options) for text in some for cut in ([text], list(text))]
        assert differences(ask, jobs) == []

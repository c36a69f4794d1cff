"""All that Python and JavaScript say of a text, near-JSON or not, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from jsonrill import Document, InvalidJSON, LimitExceeded, Limits, Parser
from jsonrill.wire import to_wire
from support.javascript import Ask, agree, in_js_order, spelled_message


def told(error: InvalidJSON | LimitExceeded) -> list[Any]:
    fields = error.to_dict()
    fields["message"] = spelled_message(fields["message"].partition(": pass limits=")[0])
    return [type(error).__name__, fields]


def report(cut: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """All that Python says of a text, as the peer answers it."""
    limits = {"limits": Limits(**options["limits"])} if "limits" in options else {}
    given = {**options, **limits}
    reader, parser = Document(**given), Parser(**given)
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
    found: list[tuple[Any, ...]] = []
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
            found.append((cut, options, both))
    return found


def check_alike(ask: Ask, texts: Iterable[str], **options: bool) -> None:
    """Both say the same of each of these texts, whole and in characters."""
    left = iter(texts)
    while some := list(islice(left, 500)):
        jobs = [(cut, options) for text in some for cut in ([text], list(text))]
        assert differences(ask, jobs) == []

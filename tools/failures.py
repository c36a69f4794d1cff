"""How each function fails, and every error with its code: the tables that pages of docs/ have.

One table of facts for all pages; tests/test_failures.py compares it with what the functions do.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import jsonrill
from jsonrill.errors import CUTS

ROOT: Final = Path(__file__).resolve().parent.parent

# What goes wrong, by the names that the tests use.
CAUSES: Final = {
    "json": "the text is not JSON, but prose, a page, or nearly JSON",
    "schema": "the value breaks its schema",
    "cut": "the answer was cut: by the token limit, a filter, a refusal, a lost stream",
    "limit": "the text passes a limit",
    "provider": "the provider reports an error, or a response has an error status",
    "unknown": "the source has nothing of what was asked for",
    "field": "the field never came, or is of another kind",
    "use": "an argument is wrong",
}
_RAISES: Final = {
    "json": "raises `InvalidJSON`",
    "schema": "raises `InvalidSchema`",
    "cut": "raises `Truncated`, whose `reason` says why",
    "limit": "raises `LimitExceeded`",
    "provider": "raises `SourceFailed`",
    "unknown": "raises `UnknownSource`",
    "use": "raises `TypeError` or `ValueError` at the call",
}
_FIELD: Final = {"field": "raises `FieldNotFound` at the end"}
_TEXT: Final = {key: _RAISES[key] for key in ("json", "cut", "limit", "use")}
_STREAM: Final = {key: _RAISES[key] for key in ("provider", "unknown", "use")}
_CALLS: Final = {
    **_STREAM,
    "json": "the call's `status` is `error`, its `error` has the code `INVALID_JSON`",
    "schema": "the call's `status` is `error`, its `error` has the code `INVALID_SCHEMA`",
    "cut": "the call's `status` is `truncated`",
    "limit": "the call's `status` is `error`, its `error` has the code `LIMIT_EXCEEDED`",
}
# Each front: what it does for each cause that it can have.
FRONTS: Final[dict[str, dict[str, str]]] = {
    "values": _RAISES,
    "fields": _RAISES,
    "select": {**_RAISES, **_FIELD},
    "text": {**_TEXT, **_STREAM, **_FIELD},
    "texts": {**_TEXT, **_STREAM, **_FIELD},
    "fragments": {**_TEXT, **_STREAM},
    "loads": {**_TEXT, "schema": _RAISES["schema"]},
    "partial": {**_TEXT, "schema": _RAISES["schema"], "cut": "returns what there is"},
    "content": {**_STREAM, "cut": "ends; `answer.finish` says why"},
    "arguments": {**_STREAM, "cut": "ends; `answer.finish` says why"},
    "updates": {
        **_STREAM,
        "json": "yields an ERROR with the code `INVALID_JSON`",
        "schema": "yields an ERROR with the code `INVALID_SCHEMA`",
        "cut": "yields an ERROR, whose `error` has the `reason`",
        "limit": "yields an ERROR with the code `LIMIT_EXCEEDED`",
    },
    "tool_calls": _CALLS,
    "parts": {
        **_CALLS,
        "cut": "a text is not `complete`, and its `error` says why; a call is `truncated`",
    },
    "run_tools": {
        **_CALLS,
        "schema": "the tool is not run; its `result` part has an `error`",
        "cut": "the tool is not run; a text is not `complete`, and its `error` says why",
    },
    "the command line": {
        **dict.fromkeys(("json", "schema", "cut", "limit"), "exit code 1, one line on stderr"),
        **dict.fromkeys(("provider", "unknown", "field"), "exit code 1, one line on stderr"),
        "use": "exit code 2",
    },
    "the server": {
        **dict.fromkeys(("json", "schema", "cut", "limit"), "an ERROR event, with the code"),
        "provider": "an ERROR event, with the code",
        "use": "status 4xx, with a code",
    },
    "a batch": {
        **dict.fromkeys(("json", "schema", "cut", "limit"), "the row's `errors`, counted by code"),
        "provider": "the row's `errors`, counted by code",
        "use": "exit code 2",
    },
}


def fails(names: list[str]) -> str:
    """The table of some fronts: those that fail alike share a column."""
    columns: dict[str, list[str]] = {}
    for name in names:
        columns.setdefault(repr(sorted(FRONTS[name].items())), []).append(name)
    groups = list(columns.values())
    heads = [", ".join(f"`{it}`" if " " not in it else it for it in group) for group in groups]
    lines = [f"| what goes wrong | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    for cause, words in CAUSES.items():
        cells = [FRONTS[group[0]].get(cause, "–") for group in groups]
        if set(cells) != {"–"}:
            lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def errors() -> str:
    """Every error and every code, from the code."""
    kinds = [getattr(jsonrill, name) for name in jsonrill.__all__]
    kinds = [it for it in kinds if isinstance(it, type) and issubclass(it, jsonrill.JsonrillError)]
    lines = ["| error | code | also a | has | is raised when |", "| --- | --- | --- | --- | --- |"]
    for kind in sorted(kinds, key=lambda it: (len(it.__mro__), it.__name__)):
        also = [it.__name__ for it in kind.__mro__[1:] if it.__name__ in _ALSO]
        own = [it for it in kind._fields if it not in jsonrill.JsonrillError._fields]
        what = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
        shown = [", ".join(f"`{it}`" for it in names) for names in (also, own)]
        lines.append(f"| `{kind.__name__}` | `{kind.code}` | {shown[0]} | {shown[1]} | {what} |")
    lines += ["", "`reason` of `Truncated`, and what the message says of it:", ""]
    lines += ["| reason | the message begins with |", "| --- | --- |"]
    lines += [f"| `{reason}` | {words} |" for reason, words in CUTS.items()]
    lines += ["| `ended` | what could have come; nothing but the text is known |", ""]
    lines += ["Codes that are in the `error` of an item, and of no exception:", ""]
    lines += ["| code | where |", "| --- | --- |"]
    for where, codes in _other_codes({kind.code for kind in kinds}):
        lines.append(f"| {', '.join(f'`{it}`' for it in codes)} | {where} |")
    return "\n".join(lines) + "\n"


_ALSO: Final = ("InvalidJSON", "ValueError", "LookupError", "TypeError")
# The ends that are written out, and those that the relay has by the status of its upstream.
_END: Final = r'(?:End\(\s*"(?:error|cancelled)",\s*|(?="UPSTREAM_))"([A-Z_]+)"'
# Where codes are that no class has: a folder, and how they are written there.
_OTHERS: Final = (
    ("a tool call", "jsonrill/src/jsonrill", r'_problem\(\s*"([A-Z_]+)"'),
    ("the end of a run", "jsonrill-server/src", _END),
    ("a response of the server", "jsonrill-server/src", r'Problem\(\s*\d+, "([A-Z_]+)"'),
)


def _other_codes(known: set[str]) -> list[tuple[str, list[str]]]:
    by_place = []
    for where, folder, pattern in _OTHERS:
        files = sorted((ROOT / "packages" / folder).rglob("*.py"))
        codes = {code for file in files for code in re.findall(pattern, file.read_text("utf8"))}
        by_place.append((where, sorted(codes - known)))
    return by_place

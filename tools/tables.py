"""Generate the JavaScript constants that Python defines.

python tools/tables.py          writes the files
python tools/tables.py --check  exits 1 if a file is not what it would write
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from textwrap import wrap
from typing import Any

from jsonrill.errors import Limits
from jsonrill.eventstream import HEARTBEAT_SECONDS
from jsonrill.providers.finish import MEANINGS, REASONS, WORDS

LIB = Path(__file__).parent.parent / "js" / "src"

# After this many missing heartbeats a reader gives up a connection.
HEARTBEATS = 3


def js(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def finish_reasons() -> Iterator[str]:
    yield f"""\
/**
 * Finish reasons: the words of all providers, and what they mean. Written by tools/tables.py
 * from providers/finish.py: change it there.
 */

/** @typedef {{{" | ".join(js(reason) for reason in REASONS)}}} Reason */

/** Each is worse than those before it. @type {{readonly Reason[]}} */
export const REASONS = {js(REASONS)};

/**
 * The messages for an answer that is not complete.
 * @type {{{{[reason: string]: string}}}}
 */
export const MEANINGS = {{
"""
    yield from (f"  {reason}: {js(meaning)},\n" for reason, meaning in MEANINGS.items())
    yield """\
};

// The words in lower case, without separators.
/** @type {{[reason: string]: string}} */
const SPELLINGS = {
"""
    for reason in REASONS:
        words = " ".join(word for word, meaning in WORDS.items() if meaning == reason)
        *lines, last = wrap(words, 110)
        if lines:
            yield f"  {reason}:\n"
            yield from (f"    {js(line + ' ')} +\n" for line in lines)
            yield f"    {js(last)},\n"
        else:
            yield f"  {reason}: {js(last)},\n"
    yield """\
};

/** @type {Map<string, Reason>} */
export const WORDS = new Map(
  REASONS.flatMap((reason) => SPELLINGS[reason].split(" ").map((word) => [word, reason])),
);
"""


def defaults() -> Iterator[str]:
    yield """\
/** Defaults, written by tools/tables.py from errors.py and eventstream.py: change them there. */

/** Sizes of untrusted input, for each document. */
export const LIMITS = {
"""
    known = fields(Limits)
    yield from (f"  {limit.name}: {limit.default:_},\n" for limit in known)
    yield "};\n\n/** Milliseconds of silence after which a connection counts as lost. */\n"
    yield f"export const SILENCE = {HEARTBEATS * HEARTBEAT_SECONDS * 1000:_.0f};\n"


FILES: dict[Path, Callable[[], Iterator[str]]] = {
    LIB / "providers" / "finish.js": finish_reasons,
    LIB / "constants.js": defaults,
}


def stale() -> list[Path]:
    """Return the files that differ from what would be written."""
    fresh = {file: "".join(write()) for file, write in FILES.items()}
    return [
        item for item, text in fresh.items() if not item.exists() or item.read_text("utf8") != text
    ]


def main() -> int:
    files = stale()
    if "--check" in sys.argv:
        return 1 if files else 0
    for file in files:
        file.write_text("".join(FILES[file]()), "utf8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes src/jsonrill/web/lib/split-tags.js: the table of `split`, for JavaScript.

python tools/split_table.py          writes the file
python tools/split_table.py --check  exits 1 if the file is not what it would write
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jsonrill.answers.split import TAGS

FILE = Path(__file__).parent.parent / "src" / "jsonrill" / "web" / "lib" / "split-tags.js"
HEAD = """\
/**
 * The table of `split`, written by tools/split_table.py from src/jsonrill/answers/split.py: change
 * it there. `reader` and `accepts` name functions of `splitter.js`, and what they are made with.
 */

/**
 * @typedef {{name: string, opening: string, reader: string[], accepts: string[], atLine: boolean,
 *   surely: boolean}} Tag
 */

/** @type {readonly Tag[]} */
export const TAGS = [
"""


def table() -> str:
    lines = [
        "  "
        + json.dumps(
            {
                "name": tag.name,
                "opening": tag.opening,
                "reader": tag.reader,
                "accepts": tag.accepts,
                "atLine": tag.at_line,
                "surely": tag.surely,
            },
            ensure_ascii=False,
        )
        + ",\n"
        for tag in TAGS
    ]
    return HEAD + "".join(lines) + "];\n"


def main() -> int:
    if "--check" not in sys.argv:
        FILE.write_text(table(), "utf8")
        return 0
    return 0 if FILE.read_text("utf8") == table() else 1


if __name__ == "__main__":
    sys.exit(main())

"""Counts the right verdicts on JSON-Schema-Test-Suite: `python tools/schema_suite.py FOLDER`.

FOLDER has a folder for each draft, as `tests/` of the suite has. Each case is read as a document,
and, if its data is an array, once more as a root array whose elements are the entities, with
`document_schema` and with `schema`. Cases that refer to other documents are left out: nothing is
ever fetched. A schema that allows no array is by definition that of the elements, so for `schema`
the empty arrays that it refuses are left out, too.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonrill import Parser, updates
from jsonrill.schema import Schema

_DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def groups(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Each group of cases, its schema with the draft of its folder."""
    for draft, name in _DRAFTS.items():
        for path in sorted((folder / draft).rglob("*.json")):
            for group in json.loads(path.read_text(encoding="utf-8")):
                if isinstance(group["schema"], dict):
                    group["schema"].setdefault("$schema", name)
                yield path.relative_to(folder), group


def readings(schema: Schema, data: Any, formats: bool) -> Iterator[tuple[str, bool]]:
    """The name of each reading of a case, and whether the data is accepted."""
    text = json.dumps(data)
    check, parser = schema.check(), Parser()
    refused = check.feed(*parser.feed(text), *parser.flush()) or check.close(data)
    yield "document", refused is None
    options: list[tuple[str, dict[str, Any]]] = []
    if isinstance(data, list):
        options += [("root array, document_schema", {"document_schema": schema})]
        if data or schema.describes_arrays():
            options += [("root array, schema", {})]
    for name, option in options:
        if "document_schema" not in option:
            option["schema"] = schema
        emitted = list(updates(text, "ONE-BY-ONE", check_formats=formats, **option))
        yield name, not any(update.status == "ERROR" for update in emitted)


def main(folder: str) -> int:
    counts: Counter[tuple[str, str]] = Counter()
    for path, group in groups(Path(folder)):
        formats = "format" in path.parts
        try:
            schema = Schema(group["schema"], check_formats=formats)
        except ValueError:
            counts["left out", "refer to other documents, or are none"] += len(group["tests"])
            continue
        for case in group["tests"]:
            for name, accepted in readings(schema, case["data"], formats):
                right = "right" if accepted == case["valid"] else "wrong"
                counts[name, right] += 1
                if right == "wrong":
                    print(f"{path}: {group['description']}: {case['description']} ({name})")
    for (name, verdict), number in sorted(counts.items()):
        print(f"{name:<28} {verdict:<6} {number:6}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

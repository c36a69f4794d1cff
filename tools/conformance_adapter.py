"""Answers the questions of tools/conformance.py for jsonrill: an example of such a program."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import jsonrill
from jsonrill.jsontext import dumps


def answer(asked: dict[str, Any]) -> Any:
    match asked["do"]:
        case "repair":
            document = jsonrill.Document(repair=True)
            try:
                for piece in asked["pieces"]:
                    document.feed(piece)
                document.flush()
            except jsonrill.InvalidJSON:
                return {"refused": True}
            return {"value": document.value}
        case "fragments":
            parser, encoder = jsonrill.Parser(), jsonrill.wire.CompactEncoder()
            batches = [parser.feed(piece) for piece in asked["feeds"]] + [parser.flush()]
            if asked["form"] == "compact":
                return [encoder.feed(one) for one in batches]
            return [[jsonrill.wire.to_wire(one) for one in several] for several in batches]
        case "rebuild":
            rebuilder = jsonrill.Rebuilder(dialect=asked["dialect"])
            values, opened = [], []
            for items in asked["feeds"]:
                rebuilder.feed(items)
                values.append(rebuilder.value)
                path = rebuilder.open_path
                opened.append(None if path is None else jsonrill.paths.format_path(path))
            return {"values": values, "open": opened, "complete": rebuilder.complete}
        case "apply":
            return {"value": jsonrill.apply_delta(asked["previous"], asked["delta"])}
        case "chunks":
            chunker = jsonrill.Chunker()
            return [*map(chunker.feed, asked["snapshots"]), chunker.flush()]
        case "calls":
            calls = jsonrill.ToolCalls()
            for event in asked["events"]:
                calls.feed(event)
            calls.flush()
            return [[call.name, call.args] for call in calls.calls]
        case "sse":
            decoder = jsonrill.eventstream.SSEDecoder()
            pieces = [base64.b64decode(piece) for piece in asked["pieces"]]
            return [list(event[:3]) for piece in pieces for event in decoder.feed(piece)]
    return None


if __name__ == "__main__":
    for line in sys.stdin:
        print(dumps(answer(json.loads(line))), flush=True)

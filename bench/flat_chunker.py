"""The chunker's rules, done the straightforward way: flatten every snapshot, compare flat maps.

This is what one writes first. Every question about a container (its members, did it change, is it
empty) is a scan over all flattened paths, so a snapshot costs containers × leaves. It has the
default options and `eager`; the benchmark measures against it, and the tests hold the real one
against it text by text. The paths are tuples: joined to strings they would also collide.
"""

from __future__ import annotations

import json
from typing import Any

from jsonrill.errors import RevisionError

Path = tuple[Any, ...]
Flat = dict[Path, tuple[str, Any]]  # kind of value ("{", "[", "number", "string", "literal"), value


def flatten(value: Any, path: Path = ()) -> Flat:
    if isinstance(value, dict):
        flat: Flat = {path: ("{", None)}
        for key, item in value.items():
            flat.update(flatten(item, (*path, key)))
        return flat
    if isinstance(value, list):
        flat = {path: ("[", None)}
        for index, item in enumerate(value):
            flat.update(flatten(item, (*path, index)))
        return flat
    if isinstance(value, _Number):
        return {path: ("number", str(value))}
    return {path: ("string" if isinstance(value, str) else "literal", value)}


class _Number(str):
    """A number's source text."""


def _waits(item: tuple[str, Any]) -> bool:
    kind, text = item
    if kind != "number":
        return False
    return text in ("0", "-0") or text.endswith(".0") or "e" in text.lower()


class FlatChunker:
    def __init__(self, *, eager: bool = False) -> None:
        self.eager = eager
        self.last: Flat = {}
        self.sent: Flat = {}
        self.open: list[Path] = []
        self.open_before: list[Path] = []
        self.held: dict[Path, Flat | None] = {}
        self.held_before: dict[Path, Flat | None] = {}

    def feed(self, snapshot: str) -> str:
        flat = flatten(json.loads(snapshot, parse_int=_Number, parse_float=_Number))
        if flat == self.last:
            self.last = flat
            return ""
        self.check(flat)
        self.open_before = list(self.open)
        out: list[str] = []
        if not self.open and not self.sent:
            self.begin(flat, out)
        elif self.open:
            self.go_on(flat, out)
        self.last = flat
        return "".join(out)

    def flush(self) -> str:
        out: list[str] = []
        if not self.sent and self.last:
            out.append(self.whole(self.last, ()))
        gone = [path for path in self.sent if path not in self.last]
        if gone:
            raise RevisionError(gone[0], self.sent[gone[0]][1], None)
        self.close(self.last, 0, out)
        return "".join(out)

    # ---- flat maps ----

    def children(self, flat: Flat, path: Path) -> list[Path]:
        return [p for p in flat if len(p) == len(path) + 1 and p[:-1] == path]

    def below(self, flat: Flat, path: Path) -> Flat:
        return {p: item for p, item in flat.items() if p[: len(path)] == path}

    def is_empty(self, flat: Flat, path: Path) -> bool:
        blank = {("string", ""), ("number", "0"), ("number", "0.0"), ("literal", None)}
        return all(it in blank or it[0] in "{[" for it in self.below(flat, path).values())

    # ---- what contradicts ----

    def check(self, flat: Flat) -> None:
        for path, (kind, was) in self.sent.items():
            if path not in flat:
                continue
            now_kind, now = flat[path]
            fits = (kind, was) == (now_kind, now)
            if path in self.open and kind in ("string", "number"):
                fits = kind == now_kind and now.startswith(was)
            elif path in self.open:
                fits = kind == now_kind
            if not fits:
                raise RevisionError(path, was, now)
        for path in flat:
            parent = path[:-1]
            if path and path not in self.sent and parent in self.sent and parent not in self.open:
                raise RevisionError(parent, None, None)

    # ---- writing ----

    def begin(self, flat: Flat, out: list[str]) -> None:
        if flat[()] == ("literal", None) or _waits(flat[()]):
            return
        if flat[()][0] == "literal":
            out.append(self.whole(flat, ()))
        else:
            self.start(flat, (), out)

    def go_on(self, flat: Flat, out: list[str]) -> None:
        for level, path in enumerate(self.open):
            if path not in flat or flat[path][0] not in "{[":
                break
            child = self.open[level + 1] if level + 1 < len(self.open) else None
            if self.move(flat, path, child, level, out):
                return
        tip = self.open[-1]
        if tip in flat and flat[tip][0] in ("string", "number"):
            self.extend(flat, tip, out, is_left=flat[tip] == self.last.get(tip))

    def move(self, flat: Flat, path: Path, child: Path | None, level: int, out: list[str]) -> bool:
        """Write into one open container, if anything may be. Did it?"""
        rest = [p for p in self.children(flat, path) if p not in self.sent]
        self.held_before = dict(self.held)
        if flat[path][0] == "[":
            closed, opened = self.elements(flat, rest, child)
            if not closed and opened is None:
                return False
        else:
            chosen = self.members(flat, path, rest, child)
            if chosen is None:
                return False
            closed, opened = chosen
        if child is not None:
            self.close(flat, level + 1, out)
        if flat[path][0] == "[":  # elements are not held
            self.held = {p: was for p, was in self.held.items() if p[:-1] != path}
        self.put(flat, path, closed, opened, out)
        return True

    def elements(
        self, flat: Flat, rest: list[Path], child: Path | None
    ) -> tuple[list[Path], Path | None]:
        if not rest:
            return [], None
        last = flat[rest[-1]]
        if rest[0][:-1] in self.open_before and all(flat[p] == self.last.get(p) for p in rest):
            is_complete = not self.is_empty(flat, rest[-1]) and self.is_left(flat, child)
            return rest if is_complete else [], None
        if last[0] == "literal":
            return rest, None
        return rest[:-1], None if _waits(last) else rest[-1]

    def members(
        self, flat: Flat, path: Path, rest: list[Path], child: Path | None
    ) -> tuple[list[Path], Path | None] | None:
        atoms = [p for p in rest if flat[p][0] == "literal"]
        new = [p for p in rest if p not in self.held and p not in atoms]
        waiting = [p for p in rest if p in self.held and p not in atoms]
        changed = [p for p in waiting if self.held[p] != self.below(flat, p)]
        complete = [p for p in waiting if p not in changed and not self.is_empty(flat, p)]
        pick = self.pick(flat, new)
        grown = [p for p in changed if not _waits(flat[p])]
        self.held.update({p: self.below(flat, p) for p in rest})
        self.held.update(dict.fromkeys(p for p in self.held if p[:-1] == path and p not in flat))
        if child is not None and not atoms and pick is None:
            if not ((grown or complete) and self.is_left(flat, child)):
                return None
        if pick is not None and len(changed) == 1:
            return atoms + complete + changed, pick
        return atoms + complete, grown[0] if grown else pick

    def pick(self, flat: Flat, new: list[Path]) -> Path | None:
        if len(new) == 1:
            return None if _waits(flat[new[0]]) else new[0]
        numbers = [p for p in new if flat[p][0] == "number"]
        if self.eager:
            full = [p for p in new if p not in numbers and not self.is_empty(flat, p)]
            return next((p for p in full + numbers if not _waits(flat[p])), None)
        return numbers[0] if len(numbers) == 1 and not _waits(flat[numbers[0]]) else None

    def is_left(self, flat: Flat, path: Path | None) -> bool:
        if path is None:
            return True
        all_there = all(p in flat for p in self.below(self.sent, path))
        return all_there and self.below(flat, path) == self.below(self.last, path)

    def put(
        self, flat: Flat, path: Path, closed: list[Path], opened: Path | None, out: list[str]
    ) -> None:
        for p in closed:
            out.append(self.lead(flat, p) + self.whole(flat, p))
            self.held.pop(p, None)
        if opened is not None:
            out.append(self.lead(flat, opened))
            self.held.pop(opened, None)
            was = self.held_before.get(opened)
            if was is not None:
                self.held.update({p: self.below(was, p) for p in self.children(was, opened)})
            self.start(flat, opened, out)

    def start(self, flat: Flat, path: Path, out: list[str]) -> None:
        kind, value = flat[path]
        self.open.append(path)
        if kind in ("string", "number"):
            self.sent[path] = (kind, "")
            out.append('"' if kind == "string" else "")
            self.extend(flat, path, out)
            return
        self.sent[path] = (kind, None)
        out.append(kind)
        self.move(flat, path, None, len(self.open) - 1, out)

    def extend(self, flat: Flat, path: Path, out: list[str], is_left: bool = False) -> None:
        kind, value = flat[path]
        if kind == "number":
            if is_left or not _waits(flat[path]):
                out.append(value[len(self.sent[path][1]) :])
                self.sent[path] = flat[path]
            return
        shown = value if is_left else self.settled(value)
        out.append(self.quoted(shown[len(self.sent[path][1]) :])[1:-1])
        self.sent[path] = (kind, shown)

    @staticmethod
    def settled(text: str) -> str:
        shown = text.rstrip("\ufffd")
        while shown and "\ud800" <= shown[-1] <= "\udfff":
            shown = shown[:-1].rstrip("\ufffd")
        return shown

    def close(self, flat: Flat, level: int, out: list[str]) -> None:
        while len(self.open) > level:
            path = self.open.pop()
            kind, sent = self.sent[path]
            if kind in ("string", "number"):
                if path in flat:
                    more = flat[path][1][len(sent) :]
                    out.append(self.quoted(more)[1:-1] if kind == "string" else more)
                    self.sent[path] = flat[path]
                out.append('"' if kind == "string" else "")
                continue
            for p in self.children(flat, path):
                if p not in self.sent:
                    out.append(self.lead(flat, p) + self.whole(flat, p))
            out.append("}" if kind == "{" else "]")

    def lead(self, flat: Flat, path: Path) -> str:
        comma = "," if self.children(self.sent, path[:-1]) else ""
        return comma + (self.quoted(path[-1]) + ":" if flat[path[:-1]][0] == "{" else "")

    def whole(self, flat: Flat, path: Path) -> str:
        kind, value = flat[path]
        self.sent[path] = flat[path]
        if kind == "number":
            return str(value)
        if kind not in "{[":
            return self.quoted(value) if kind == "string" else json.dumps(value)
        parts = []
        for p in self.children(flat, path):
            lead = self.quoted(p[-1]) + ":" if kind == "{" else ""
            parts.append(lead + self.whole(flat, p))
        return kind + ",".join(parts) + ("}" if kind == "{" else "]")

    @staticmethod
    def quoted(text: str) -> str:
        written = json.dumps(text, ensure_ascii=False)
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in written)

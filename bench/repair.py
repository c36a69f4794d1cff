"""`python -m bench.repair`: near-JSON beside the rivals, and what leniency costs on valid JSON.

The texts are those of cases/repair.json and near_json.json. At the end of each text: is the
value the one that was meant, or, where a text can mean two, is it refused? After each of its
characters: did something that was shown go away, or was something shown that this reader's own
value at the end does not have? With `--write` the tables go into docs/repair-figures.md. A rival
that is not installed is left out, and named.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from .contestants import COMPILED, NOTHING, ROOT, SOURCE, importing
from .environments import NODE, machine
from .measure import interleaved, settle
from .prefixes import faults, same, still_there
from .shapes import pieces, text_of

PAGE: Final = ROOT / "docs" / "repair-figures.md"
CASES: Final[list[dict[str, Any]]] = list(
    {
        case["text"]: case
        for name in ("near_json", "repair")
        for case in json.loads((ROOT / "cases" / f"{name}.json").read_text("utf8"))["cases"]
    }.values()
)
RAISED: Final[Any] = object()
NO_RULE: Final = "refused by jsonrill"
BAML: Final = """
client<llm> None {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
type Value = int | float | bool | string | null | Value[] | map<string, Value>
type Answer = Value[] | map<string, Value>
function Read(text: string) -> Answer {
  client None
  prompt #"{{ text }}"#
}
"""


class Reader:
    """What is shown after each character of a text, and at its end."""

    package = ""

    def shown(self, text: str) -> Iterator[Any]:
        for end in range(1, len(text) + 1):
            yield attempt(lambda end=end: self.early(text[:end]))  # type: ignore[misc]

    def final(self, text: str) -> Any:
        return attempt(lambda: self.read(text))

    def early(self, text: str) -> Any:
        return self.read(text)

    def read(self, text: str) -> Any:
        raise NotImplementedError


def attempt(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ModuleNotFoundError:
        raise  # a fault of this machine, not of the reader
    except Exception:
        return RAISED


class Ours(Reader):
    def __init__(self) -> None:
        self.document = import_module("jsonrill").Document

    def shown(self, text: str) -> Iterator[Any]:
        document = self.document(repair=True)
        for char in text:
            if attempt(lambda char=char: document.feed(char)) is RAISED:  # type: ignore[misc]
                yield RAISED
                return
            yield document.value if document.started else NOTHING

    def read(self, text: str) -> Any:
        document = self.document(repair=True)
        document.feed(text)
        document.flush()
        return document.value


class JsonRepair(Reader):
    package = "json_repair"

    def __init__(self) -> None:
        self.loads = import_module("json_repair").loads

    def read(self, text: str) -> Any:
        return nothing_if_empty(self.loads(text))

    def early(self, text: str) -> Any:
        return nothing_if_empty(self.loads(text, stream_stable=True))


def nothing_if_empty(value: Any) -> Any:
    """It says "" where it finds no JSON."""
    return NOTHING if value == "" else value


class PartialJsonParser(Reader):
    package = "partial-json-parser"

    def __init__(self) -> None:
        self.read = import_module("partial_json_parser").loads  # type: ignore[method-assign]


class Dirtyjson(Reader):
    package = "dirtyjson"

    def __init__(self) -> None:
        loads = import_module("dirtyjson").loads
        # Its dicts have attributes of their own; as JSON they are plain.
        self.read = lambda text: json.loads(json.dumps(loads(text)))  # type: ignore[method-assign]


class Baml(Reader):
    """Told that any object or array may come, as its parser needs a type."""

    package = "baml-py"

    def __init__(self) -> None:
        self.module = import_module("baml_py")
        self.runtime = self.module.BamlRuntime.from_files("baml_src", {"main.baml": BAML}, {})
        self.context = self.runtime.create_context_manager()

    def read(self, text: str, early: bool = False) -> Any:
        modules = [self.module] * 3
        return self.runtime.parse_llm_response(
            "Read", text, *modules, early, self.context, None, None, {}
        )

    def early(self, text: str) -> Any:
        return self.read(text, early=True)


class NpmJsonrepair(Reader):
    """Everything is asked at once, in one process of node."""

    package = "jsonrepair"

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None or not (NODE / "node_modules" / self.package).exists():
            raise ModuleNotFoundError(f"no {self.package} in {NODE.name}")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "texts.json"
            file.write_text(json.dumps([case["text"] for case in CASES]), "utf8")
            words = [node, str(NODE / "repair.mjs"), str(file)]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
        answer = json.loads(done.stdout)
        self.version: str = answer["version"]
        self.answers = dict(zip([case["text"] for case in CASES], answer["shown"], strict=True))

    def shown(self, text: str) -> Iterator[Any]:
        for answer in self.answers[text]:
            yield answer[0] if answer else RAISED

    def final(self, text: str) -> Any:
        return list(self.shown(text))[-1]


READERS: Final[dict[str, type[Reader]]] = {
    "jsonrill, `repair=True`": Ours,
    "json_repair": JsonRepair,
    "BAML": Baml,
    "jsonrepair (npm)": NpmJsonrepair,
    "partial-json-parser": PartialJsonParser,
    "dirtyjson": Dirtyjson,
}


# ---- right, and steady ----


def verdicts_of(reader: Reader) -> tuple[Counter[str], dict[str, str]]:
    """The counts, and the verdict on each text."""
    counts: Counter[str] = Counter()
    verdicts: dict[str, str] = {}
    for case in CASES:
        final = reader.final(case["text"])
        verdicts[case["text"]] = verdict(case, final)
        counts[verdicts[case["text"]]] += 1
        before: Any = NOTHING
        for value in reader.shown(case["text"]):
            counts["prefixes"] += 1
            if value is RAISED:
                counts["raised"] += 1
                continue
            counts["retracted"] += not still_there(before, value)
            if value is not NOTHING and final is not RAISED and final is not NOTHING:
                counts.update(set(faults(value, final)))
            before = copy.deepcopy(value)
    return counts, verdicts


def verdict(case: dict[str, Any], final: Any) -> str:
    """A text without any JSON, or with two readings, is rightly refused."""
    if final is RAISED or final is NOTHING:
        return "right" if case.get("value") is None else "refused"
    meant = [case["value"], *case.get("also", ())] if case.get("value") is not None else []
    return "right" if any(same(final, value) for value in meant) else "wrong"


def comparison() -> str:
    rows, versions, missing = [], [], []
    verdicts: dict[str, dict[str, str]] = {}
    for name, kind in READERS.items():
        try:
            reader = kind()
        except ModuleNotFoundError:
            missing.append(name)
            continue
        if kind.package:
            versions.append(
                f"{kind.package} {getattr(reader, 'version', None) or version(kind.package)}"
            )
        counts, verdicts[name] = verdicts_of(reader)
        keys = ("right", "wrong", "refused", "raised", "retracted", "invented", "false number")
        rows.append([name, *(f"{counts[key]:,}" for key in keys)])
        prefixes = counts["prefixes"]
    head = ["", "right", "wrong", "refused", "raised", "retracted", "invented", "false number"]
    return (
        f"{len(CASES):,} texts; {prefixes:,} beginnings of them, one for each character.\n\n"
        f"{table(head, rows)}\n\n"
        f"{', '.join(versions)}."
        + (f" Not installed: {', '.join(missing)}." if missing else "")
        + f"\n\n{by_rule(verdicts)}"
    )


def by_rule(verdicts: dict[str, dict[str, str]]) -> str:
    """Right, wrong and refused for the texts that need each rule; some need several."""
    rules: dict[str, list[str]] = {}
    document = import_module("jsonrill").Document
    for case in CASES:
        reader = document(repair=True)
        if attempt(lambda text=case["text"], to=reader: (to.feed(text), to.flush())) is RAISED:  # type: ignore[misc]
            names = {NO_RULE}
        else:
            names = {repair.rule for repair in reader.repairs} or {"(valid)"}
        for name in names:
            rules.setdefault(name, []).append(case["text"])
    rows = []
    for rule in sorted(rules, key=lambda name: (name == NO_RULE, name)):
        counts = [Counter(by_text[text] for text in rules[rule]) for by_text in verdicts.values()]
        cells = ["/".join(str(it[key]) for key in ("right", "wrong", "refused")) for it in counts]
        rows.append([f"{rule} ({len(rules[rule])})", *cells])
    return (
        "The same by the rule that a text needs (the number of texts): right/wrong/refused.\n\n"
        + table(["", *(name.split(",")[0] for name in verdicts)], rows)
    )


# ---- the cost of leniency where there is nothing to repair ----


def cost(budget: float) -> str:
    rows = []
    for label, place in (("pure Python", SOURCE), ("compiled", COMPILED)):
        if not place.exists():
            continue
        with importing("jsonrill", place) as jsonrill:
            settle()
            for shape in ("20 KB", "20 KB, indented", "many small items"):
                cells = [f"{shape}, {label}"]
                for stage in (jsonrill.Document, jsonrill.Parser):
                    for size in (4, 64, 10**9):
                        cells.append(f"{ratio(stage, pieces(text_of(shape), size), budget):.2f}")
                rows.append(cells)
    head = [
        "",
        *(f"{stage}, {size}" for stage in ("value", "fragments") for size in (4, 64, "all")),
    ]
    told = machine()
    return f"{table(head, rows)}\n\n{told['python']}, {told['system']}, {told['cores']} cores."


def ratio(stage: Any, cut: list[str], budget: float) -> float:
    def run(repair: bool) -> None:
        reader = stage(repair=repair)
        for piece in cut:
            reader.feed(piece)
        reader.flush()

    works = {"strict": lambda: run(False), "lenient": lambda: run(True)}
    timings = interleaved(works, budget=budget, least=5)  # type: ignore[arg-type]
    return timings["lenient"].seconds / timings["strict"].seconds


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def written(page: str, name: str, text: str) -> str:
    """The page with this text between the marks of that name."""
    marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    assert marks.search(page), name
    return marks.sub(lambda match: f"{match[1]}\n{text}\n\n{match[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.repair", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/repair-figures.md"
    )
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each timing")
    parser.add_argument("--no-cost", action="store_true", help="the comparison alone")
    chosen = parser.parse_args()
    with importing("jsonrill", SOURCE):
        tables = {"comparison": comparison()}
    if not chosen.no_cost:
        tables["cost"] = cost(chosen.budget)
    print("\n\n".join(tables.values()))
    if chosen.write:
        page = PAGE.read_text("utf8")
        for name, text in tables.items():
            page = written(page, name, text)
        PAGE.write_text(page, "utf8")


if __name__ == "__main__":
    main()

"""The loop around a target: seeds in, findings out. Knows nothing of JSON.

An execution is `target.run(random)`: it draws its input from `random`, and raises when its
sentence does not hold. The seed of each execution is printed with a finding, so that
`--seed` runs exactly that one again. `target.check(text, random)` is the same for a given text;
`one_input` calls it with the bytes of a file, or of a fuzzer that is guided by coverage.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.seeds import dictionary

HANG = 60  # seconds after which one execution counts as endless
CHOICES = 16  # bytes at the beginning of an input that decide about options and cuttings


def main(targets: dict[str, Any]) -> int:
    """For the command line: how many targets had findings."""
    parser = argparse.ArgumentParser(description="Look for anything but the documented.")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(targets)}; default: all")
    parser.add_argument("--seconds", type=float, default=30, help="how long, for each target")
    parser.add_argument("--start", default="", help="another word makes other inputs")
    parser.add_argument("--seed", help="run this one execution alone")
    parser.add_argument("--files", nargs="+", type=Path, help="run each file as an input")
    parser.add_argument("--write", type=Path, help="write seeds and dictionaries into a folder")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in targets]:
        parser.error(f"there is no target {unknown[0]}; there are {', '.join(targets)}")
    chosen = {name: targets[name] for name in options.names or targets}
    if options.write is not None:
        for name, target in chosen.items():
            write(name, target, options.write)
        return 0
    for target in chosen.values():
        if options.seed is not None:
            target.run(random.Random(options.seed))
        for file in options.files or ():
            one_input(target)(file.read_bytes())
    if options.seed is not None or options.files:
        return 0
    return sum(fuzz(target, options.seconds, options.start) > 0 for target in chosen.values())


def fuzz(target: Any, seconds: float, start: str) -> int:
    """Execute for so many seconds; how many different findings there were."""
    print(f"{target.__name__}: {target.TARGET}", flush=True)
    end = time.monotonic() + seconds
    count, findings = 0, dict[str, str]()
    while time.monotonic() < end:
        seed = f"{start}{count}"
        faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
        try:
            target.run(random.Random(seed))
        except Exception as error:
            note(seed, error, findings)
        count += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{target.__name__}: {count} executions, {len(findings)} findings", flush=True)
    return len(findings)


def note(seed: str, error: Exception, findings: dict[str, str]) -> None:
    """One finding for each place where an execution broke off."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} in {last.filename}:{last.lineno}"
    if place not in findings:
        findings[place] = seed
        print(f"FINDING with --seed {seed}", flush=True)
        traceback.print_exception(error)


def one_input(target: Any) -> Callable[[bytes], None]:
    """The function that libFuzzer and its relatives call, with bytes, again and again."""

    def run(data: bytes) -> None:
        text: Any = data[CHOICES:]
        if not target.BYTES:
            text = text.decode("utf-8", "replace")
        target.check(text, Draws(data[:CHOICES]))

    return run


class Draws(random.Random):
    """Decides by the bytes it is given, so that a fuzzer can change one decision at a time."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data = iter(data)

    def getrandbits(self, k: int, /) -> int:
        bits = 0
        for _ in range(0, k, 8):
            bits = bits << 8 | next(self._data, 0)
        return bits & ((1 << k) - 1)

    def random(self) -> float:
        return self.getrandbits(16) / (1 << 16)


def write(name: str, target: Any, folder: Path) -> None:
    """Write the seeds of a target to `folder`/NAME and its dictionary to `folder`/NAME.dict."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        raw = seed if isinstance(seed, bytes) else seed.encode("utf-8", "replace")
        (place / f"{number:04d}").write_bytes(bytes(CHOICES) + raw)
    (folder / f"{name}.dict").write_text("\n".join(dictionary(target.WORDS)) + "\n", "utf8")
    print(f"{name}: {len(target.seeds())} seeds, {len(target.WORDS)} words", flush=True)

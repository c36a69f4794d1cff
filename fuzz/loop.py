"""The loop around a target: seeds in, findings out. Knows nothing of JSON.

An execution is `target.run(random)`: it draws its input from `random`, and raises when its
sentence does not hold. The seed of each execution is printed with a finding, so that
`--seed` runs exactly that one again.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import time
import traceback
from typing import Any

HANG = 60  # seconds after which one execution counts as endless


def main(targets: list[Any]) -> int:
    """For the command line: how many targets had findings."""
    parser = argparse.ArgumentParser(description="Look for anything but the documented.")
    parser.add_argument("--seconds", type=float, default=30, help="how long, for each target")
    parser.add_argument("--start", default="", help="another word makes other inputs")
    parser.add_argument("--seed", help="run this one execution alone")
    options = parser.parse_args()
    if options.seed is not None:
        for target in targets:
            target.run(random.Random(options.seed))
        return 0
    return sum(fuzz(target, options.seconds, options.start) > 0 for target in targets)


def fuzz(target: Any, seconds: float, start: str) -> int:
    """Execute for so many seconds; how many different findings there were."""
    print(f"{target.__name__}: {target.TARGET}", flush=True)
    end = time.monotonic() + seconds
    count, found = 0, dict[str, str]()
    while time.monotonic() < end:
        seed = f"{start}{count}"
        faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
        try:
            target.run(random.Random(seed))
        except Exception as error:
            note(seed, error, found)
        count += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{target.__name__}: {count} executions, {len(found)} findings", flush=True)
    return len(found)


def note(seed: str, error: Exception, found: dict[str, str]) -> None:
    """One finding for each place where an execution broke off."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{type(error).__name__} in {last.filename}:{last.lineno}"
    if place not in found:
        found[place] = seed
        print(f"FINDING with --seed {seed}", flush=True)
        traceback.print_exception(error)

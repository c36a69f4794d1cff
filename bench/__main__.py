"""`python -m bench`: measure, then write docs/benchmarks.md and what belongs to it."""

from __future__ import annotations

import argparse
import json
import sys
from subprocess import CalledProcessError
from time import monotonic
from typing import Any, Final

from . import report
from .contestants import ROOT
from .environments import machine, measured, measured_in_node
from .sections import SECTIONS, Effort, say

RESULTS: Final = ROOT / "docs" / "benchmarks" / "results.json"
FULL: Final = Effort(budget=1.2, cap=8.0)
QUICK: Final = Effort(budget=0.3, cap=6.0)
NODE: Final = "node"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("sections", nargs="*", help=f"some of: {', '.join((*SECTIONS, NODE))}")
    parser.add_argument("--quick", action="store_true", help="less exact, a tenth of the time")
    parser.add_argument("--dry", action="store_true", help="print the page, write nothing")
    parser.add_argument(
        "--render", action="store_true", help="measure nothing, write the page anew"
    )
    chosen = parser.parse_args()
    if unknown := set(chosen.sections) - {*SECTIONS, NODE}:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    return chosen


def measure(names: list[str], effort: Effort, results: dict[str, Any]) -> list[str]:
    """Measure these sections into the results; those that failed.

    One whose environment is missing is left out.
    """
    failed = []
    for name in names:
        begun = monotonic()
        say(name)
        try:
            if name == NODE:
                section = measured_in_node(effort)
            else:
                section = measured(name, SECTIONS[name][0], effort)
        except CalledProcessError:
            failed.append(name)
            continue
        if section is None:
            say("  its environment is missing")
            continue
        results["results"][name] = section["results"]
        results["versions"][name] = section["versions"]
        say(f"  {monotonic() - begun:.0f} s")
    return failed


def main() -> int:
    chosen = options()
    effort = QUICK if chosen.quick else FULL
    results: dict[str, Any] = {"results": {}, "versions": {}}
    if (chosen.render or chosen.sections) and RESULTS.exists():
        results = json.loads(RESULTS.read_text("utf8"))
    failed: list[str] = []
    if not chosen.render:
        results |= {"machine": machine(), "budget": effort.budget, "cap": effort.cap}
        failed = measure(chosen.sections or [*SECTIONS, NODE], effort, results)
    if chosen.dry:
        print(report.page(results))
        return len(failed)
    print(report.all_goals(results["results"]))
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf8")
    report.write(results, RESULTS.parent.parent)
    if failed:
        say(f"failed, and left as they were: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m support.simulation NUMBER`: repeat a schedule, and print its smallest form."""

from __future__ import annotations

import sys

from . import Schedule, Violation, seeded, shrunk, simulate


def _broken(schedule: Schedule) -> str:
    """What kind of promise a schedule breaks."""
    try:
        simulate(schedule)
    except Violation as violation:
        return str(violation).partition(": ")[2][:20]
    return ""


def main() -> None:
    schedule = seeded(int(sys.argv[1]))
    kind = _broken(schedule)
    if not kind:
        sys.exit("every promise holds")
    smallest = shrunk(schedule, lambda one: _broken(one) == kind)
    print(smallest)
    simulate(smallest)


main()

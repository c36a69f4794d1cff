"""`python -m simulation FIRST COUNT`: simulate many schedules, and print what is wrong."""

from __future__ import annotations

import sys
import time

from . import Stuck, Violation, simulate

first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
start, violations = time.monotonic(), 0
for seed in range(first, first + count):
    try:
        simulate(seed)
    except (Violation, Stuck) as error:
        violations += 1
        print(f"{seed}: {type(error).__name__}: {error}", flush=True)
print(f"{count} schedules, {violations} violations, {time.monotonic() - start:.0f} s")
sys.exit(violations > 0)

"""examples/agent-fastapi is killed 50 times at random moments: no booking is made twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

from support.agent_example import Program, Reader, check, fake_model

KILLS = 50


def test_killed_at_any_moment(tmp_path: Path) -> None:
    rolls = random.Random(39)
    ends: Counter[str] = Counter()
    with fake_model() as model, Program(tmp_path, model.url, "openai") as program:
        length = len(asyncio.run(Reader(program).read()))
        for _ in range(KILLS):
            (tmp_path / "bookings.txt").unlink(missing_ok=True)
            # Half of the time around the decision and the booking, which are a small part of it.
            late = rolls.random() < 0.5
            at = rolls.randrange(length // 2 if late else 1, length)
            events = asyncio.run(Reader(program, at, rolls.uniform(0, 0.1)).read())
            ends[check(events, program.bookings)] += 1
        assert "Traceback" not in program.log()
    print(dict(ends))
    assert ends["booked"]

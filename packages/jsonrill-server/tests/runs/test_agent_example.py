"""examples/agent-fastapi survives a killed process, with the clients of three providers."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from support import hard
from support.agent_example import EXAMPLE, Program, Reader, check, fake_model


def test_it_is_less_than_120_lines() -> None:
    files = [EXAMPLE / "app.py", EXAMPLE / "web" / "src" / "main.tsx"]
    lines = [line for file in files for line in file.read_text("utf8").splitlines()]
    assert sum(bool(line.strip()) for line in lines) < 120


@hard
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_it_is_cut_off_and_killed_and_nothing_is_run_twice(provider: str, tmp_path: Path) -> None:
    rolls = random.Random(provider)
    # Every second connection to the model is reset, where the example goes on after that.
    cut = provider != "gemini"
    with fake_model(cut=cut) as model, Program(tmp_path, model.url, provider) as program:
        whole = asyncio.run(Reader(program).read())
        assert check(whole, program.bookings) == "booked"
        (tmp_path / "bookings.txt").unlink()
        at, delay = rolls.randrange(1, len(whole)), rolls.uniform(0, 0.06)
        events = asyncio.run(Reader(program, at, delay).read())
        check(events, program.bookings)
        assert "Traceback" not in program.log()

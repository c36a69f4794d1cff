"""Death at any moment: whatever call on files was the last one, the next run makes it whole.

The steps that change the folder are counted, and the run dies at one of them, for every one of
them; as after a SIGKILL nothing is cleaned up.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jsonrill_batch import BatchError, Job, resume, run

from .logs import log, results

JOB = Job(kind="values")
STEPS = ("open", "fsync", "replace", "unlink", "makedirs")


class Died(BaseException):
    """As if the process were gone: nothing that handles errors should see it."""


class Mortal:
    """Lets so many steps happen, and none after them."""

    def __init__(self, patch: pytest.MonkeyPatch, life: int) -> None:
        self.steps = 0
        self.life = life
        for name in STEPS:
            patch.setattr(os, name, self._counted(getattr(os, name)))
        patch.setattr(shutil, "rmtree", self._counted(shutil.rmtree))

    def _counted(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*args: Any, **options: Any) -> Any:
            self.steps += 1
            if self.steps > self.life:
                raise Died
            return step(*args, **options)

        return taken


def go(inputs: list[str], out: Path) -> None:
    """As a user does: begin, or go on if there is something to go on with."""
    try:
        run(JOB, inputs, str(out), workers=0, shard_bytes=100)
    except BatchError:
        resume(str(out), workers=0)


def test_no_moment_to_die_loses_anything(tmp_path: Path) -> None:
    good = '{"id": 1, "text": "[1, 2]"}'
    inputs = [str(log(tmp_path / "a.jsonl", good, "bad", good, good, good, "bad", good, good))]
    with pytest.MonkeyPatch.context() as patch:
        counted = Mortal(patch, 10**9)
        go(inputs, tmp_path / "whole")
    whole = results(tmp_path / "whole")
    assert len(whole) == 3 and counted.steps > 30
    for life in range(counted.steps):
        out = tmp_path / f"out{life}"
        with pytest.MonkeyPatch.context() as patch:
            Mortal(patch, life)
            with pytest.raises(Died):
                go(inputs, out)
        go(inputs, out)
        assert results(out) == whole, f"died after {life} steps"
        assert not (out / "tmp").exists() and (out / "report.html").exists()
        shutil.rmtree(out)

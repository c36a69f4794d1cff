"""The Durable Streams front keeps what the published suite of that protocol asks for."""

from __future__ import annotations

from pathlib import Path

from support.durable import check, outcomes


def test_every_test_but_those_of_forks_passes(npm: Path, tmp_path: Path) -> None:
    check(outcomes(npm, tmp_path))

"""Streams of updates: all modes, and what a whole run of one gives."""

from __future__ import annotations

import copy
from typing import Any

from jsonrill import PartialStream, Update, apply_delta
from jsonrill.options import Mode

MODES: list[Mode] = ["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"]


def run(pieces: Any, mode: Mode, **options: Any) -> list[Update]:
    stream = PartialStream(mode, **options)
    updates = [update for piece in pieces for update in stream.feed(piece)]
    return updates + stream.flush()


def short(updates: list[Update]) -> list[tuple[Any, ...]]:
    return [(update.index, update.status, update.data) for update in updates]


def finals(updates: list[Update]) -> list[dict[str, Any]]:
    return [update.to_dict() for update in updates if update.status != "PARTIAL"]


def check_law(updates: list[Update], exact: bool = True) -> None:
    state: dict[Any, Any] = {}
    for update in updates:
        before = state.get(update.index)
        kept = copy.deepcopy(before)
        assert update.delta is not None
        state[update.index] = apply_delta(before, update.delta)
        assert state[update.index] == update.data
        assert exact is False or repr(state[update.index]) == repr(update.data)
        assert repr(before) == repr(kept)

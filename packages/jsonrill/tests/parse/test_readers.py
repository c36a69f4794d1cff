"""The shape of leniency: a machine that holds small readers."""

from __future__ import annotations

from jsonrill.parse import states
from jsonrill.parse.lenient import inside
from jsonrill.parse.sink import Sink


def test_every_state_that_json_does_not_have_has_its_reader() -> None:
    numbers = {
        value
        for name, value in vars(states).items()
        if isinstance(value, int) and name.isupper() and value >= states.LENIENT
    }
    assert numbers == set(inside.READERS)
    machine = inside.LenientMachine(Sink(), rules=True)
    for reader, method in inside.READERS.values():
        assert callable(getattr(getattr(machine, reader), method))

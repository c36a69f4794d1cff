"""Every short text is read or refused as `json.loads` does, however it is cut."""

from __future__ import annotations

from prefixes import digest

from support import HARDER


def test_every_short_text_is_read_as_json_loads_reads_it() -> None:
    count, _ = digest(6, 5, 4) if HARDER else digest(4, 4, 2)
    assert count > 3000

"""Every text up to a small length: verdict, place and value as `json.loads`, in every cutting."""

from __future__ import annotations

from prefixes import digest

from support import HARDER


def test_every_short_text_is_read_as_json_loads_reads_it() -> None:
    count, _ = digest(6, 5, 4) if HARDER else digest(4, 4, 2)
    assert count > 3000

"""The npm packages of package.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.npm import installed


@pytest.fixture(scope="session")
def npm() -> Path:
    """Return a folder with the scripts and the packages that they import."""
    return installed(Path(__file__).parent, "clients")

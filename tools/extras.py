"""`python tools/extras.py NAME …`: what these extras of the library need, a requirement a line."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Final

LIBRARY: Final = Path(__file__).resolve().parent.parent / "packages/jsonrill/pyproject.toml"


def main() -> None:
    extras = tomllib.loads(LIBRARY.read_text("utf8"))["project"]["optional-dependencies"]
    for name in sys.argv[1:]:
        print("\n".join(extras[name]))


if __name__ == "__main__":
    main()

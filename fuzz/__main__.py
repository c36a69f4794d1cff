"""Run the targets for a while: `python -m fuzz --seconds 60`, `python -m fuzz repair sse`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from fuzz.loop import main

if __name__ == "__main__":
    names = sorted(file.stem for file in Path(__file__).parent.glob("fuzz_*.py"))
    modules = {name: importlib.import_module(f"fuzz.{name}") for name in names}
    sys.exit(main({name.removeprefix("fuzz_"): target for name, target in modules.items()}))

"""Writes docs/demo.svg: the last frame of each part of the demo, as a terminal shows it."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packages" / "jsonrill" / "src"))

from jsonrill.demo.terminal import show  # noqa: E402

if __name__ == "__main__":
    console = Console(
        record=True, width=110, force_terminal=True, file=io.StringIO(), color_system="truecolor"
    )
    show(pace=0.0, console=console, still=True)
    svg = console.export_svg(title="jsonrill demo", unique_id="jsonrill")
    # The fonts would be loaded from another site; every machine has a monospace one.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.S).replace("Fira Code, ", "")
    (ROOT / "docs" / "demo.svg").write_text(svg, "utf8")

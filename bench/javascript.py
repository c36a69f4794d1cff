"""The parser in JavaScript beside its rivals: in node, and the same code in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from . import prefixes
from .contestants import ROOT
from .shapes import FAMILY, PIECE, SHAPES, text_of

NODE: Final = ROOT / "bench" / "node"
MEASURE: Final = """([asked, budget, cap]) =>
    parsers.measure(asked, budget, cap, () => performance.now() / 1e3)"""


def compared(budget: float, cap: float) -> dict[str, Any]:
    """What `javascript.mjs` finds in node, and the times of its parsers in Chromium."""
    texts = {name: {"text": text_of(name), "family": name in FAMILY} for name in SHAPES}
    correctness = {"texts": prefixes.TEXTS, "good": prefixes.GOOD, "bad": prefixes.BAD}
    asked = {"size": PIECE, "texts": texts, "correctness": correctness}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "asked.json"
        file.write_text(json.dumps(asked), "utf8")
        words = ["node", str(NODE / "javascript.mjs"), str(file), str(budget), str(cap)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    results: dict[str, Any] = json.loads(done.stdout)
    results |= {"budget": budget, "cap": cap}
    script = results.pop("page")
    chromium = shutil.which("chromium")
    if chromium is not None:
        results["chromium"], results["versions"]["chromium"] = _in(
            chromium, script, asked, budget, cap
        )
    return results


def _in(
    chromium: str, script: str, asked: dict[str, Any], budget: float, cap: float
) -> tuple[dict[str, Any], str]:
    """The times in a browser (wall time: it has no other), and its version."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page()
        page.add_script_tag(content=script)
        page.set_default_timeout(0)
        times: dict[str, Any] = page.evaluate(MEASURE, [asked, budget, cap])
        version = browser.version
        browser.close()
    return times, version

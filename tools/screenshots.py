"""Writes docs/screenshots/*.png: the page of `jsonrill serve --demo` in Chromium, while it streams.

`python tools/screenshots.py`; needs playwright and the chromium of tools/system_parts.py.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "screenshots"
MOST_BYTES = 200_000
# Without subpixel colours at the edges of letters, a picture is half as large.
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-lcd-text"]
SPEED = "(slider) => { slider.value = 1; slider.dispatchEvent(new Event('input')); }"


class Shot(NamedTuple):
    """A screenshot: how the page looks, and what is done before it is taken."""

    name: str
    scheme: Literal["light", "dark"]
    work: Callable[[Page], None]
    width: int = 1280
    height: int = 760


def until(page: Page, key: str) -> None:
    """Wait until the tree shows the line of this key."""
    page.locator(".row", has=page.locator(f".key:text-is('{key}')")).last.wait_for(timeout=60_000)
    page.wait_for_timeout(250)


def stream(model: str, key: str) -> Callable[[Page], None]:
    def work(page: Page) -> None:
        page.locator(f"[data-model={model}]").click()
        until(page, key)

    return work


def arrival(page: Page) -> None:
    """The first example plays by itself."""
    until(page, "steps")


def entities(page: Page) -> None:
    stream("voyage", "days #2")(page)
    page.wait_for_timeout(900)


def tool_calls(page: Page) -> None:
    stream("harbour", "nights")(page)


def error(page: Page) -> None:
    page.locator("#speed").evaluate(SPEED)
    page.locator("[data-model=booking]").click()
    expect(page.locator("#state")).to_have_text("Not valid against the schema", timeout=60_000)
    page.locator("#offers .advice").wait_for()


def replay(page: Page) -> None:
    page.locator("#paste-box summary").click()
    page.locator("#paste").fill(
        (ROOT / "packages/jsonrill/src/jsonrill/demo/recordings/recipe.txt").read_text("utf8")
    )
    page.locator("#paste-form .main").click()
    until(page, "steps")
    page.locator("#play").click()
    page.locator(".key", has_text="kcal").click()


def paste(page: Page, text: str) -> None:
    box = page.locator("#paste-box")
    if box.get_attribute("open") is None:
        box.locator("summary").click()
    page.locator("#paste").fill(text)
    page.locator("#paste-form .main").click()
    page.locator("#offers .recognised").wait_for()
    box.locator("summary").click()


def timing(page: Page) -> None:
    page.locator("[data-model=recipe]").click()
    page.locator("#tab-timing").click()
    expect(page.locator("#state")).to_have_text("Complete", timeout=60_000)
    page.wait_for_timeout(500)


def repair(page: Page) -> None:
    paste(page, NEAR_JSON)
    page.locator("#offers .main").click()
    page.locator(".repaired").wait_for()
    page.wait_for_timeout(1500)


def compare(page: Page) -> None:
    text = (ROOT / "packages/jsonrill/src/jsonrill/demo/recordings/booking.txt").read_text("utf8")
    paste(page, text)
    page.locator("#tab-compare").click()
    page.get_by_role("button", name="Keep this attempt").click()
    paste(page, text.replace('"helicopter"', '"ferry"').replace("3,", '4,\n  "beds": 2,'))
    page.locator(".compare tr.different").first.wait_for()
    page.wait_for_timeout(500)


NEAR_JSON = """Sure! Here is the event:
```json
{"title": "Storm over the bay", tags: ['sea', 'wind',], "when": None, // tonight
 "stops": [{"name": "Quay", "minutes": 7}, {"name": "Lighthouse", "minutes": 12}],}
```"""

SHOTS = (
    Shot("light", "light", arrival),
    Shot("dark", "dark", entities),
    Shot("tool-calls", "light", tool_calls),
    Shot("error", "light", error),
    Shot("replay", "dark", replay),
    Shot("timing", "light", timing),
    Shot("repair", "light", repair),
    Shot("compare", "dark", compare),
    Shot("narrow", "light", stream("recipe", "nutrition"), 400, 860),
)


@contextmanager
def serving() -> Iterator[str]:
    """A server with the demo, on a free port."""
    command = [
        sys.executable,
        "-m",
        "jsonrill",
        "serve",
        "--demo",
        "--port",
        "0",
        "--no-access-log",
    ]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, ROOT.glob("packages/*/src")))}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def take(browser: Browser, url: str, shot: Shot) -> None:
    size = {"width": shot.width, "height": shot.height}
    page = browser.new_page(viewport=size, color_scheme=shot.scheme)  # type: ignore[arg-type]
    page.goto(url)
    page.locator("#model-list button").first.wait_for()
    shot.work(page)
    file = FOLDER / f"{shot.name}.png"
    file.write_bytes(with_palette(page.screenshot()))
    page.close()
    if file.stat().st_size > MOST_BYTES:
        sys.exit(f"{file.name} is larger than {MOST_BYTES} bytes")
    print(f"{file.name}: {file.stat().st_size} bytes")


Colour = tuple[int, ...]


def with_palette(png: bytes) -> bytes:
    """The picture with a palette of 256 colours; similar colours become one.

    A page has few colours, apart from the edges of letters, and the file becomes a third as large.
    """
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6), "an ordinary screenshot"
    step = 3 if kind == 2 else 4
    rows = unfiltered(zlib.decompress(b"".join(chunks(png, b"IDAT"))), width * step, step)
    pixels = [[*zip(*(row[at::step] for at in range(3)), strict=True)] for row in rows]
    palette, index = reduced(Counter(colour for row in pixels for colour in row))
    data = b"".join(b"\0" + bytes(index[colour] for colour in row) for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = bytes(part for colour in palette for part in colour)
    parts = ((b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    return png[:8] + b"".join(chunk(name, body) for name, body in parts)


def reduced(counts: Counter[Colour]) -> tuple[list[Colour], dict[Colour, int]]:
    """A palette of 256 colours, and the index in it of each colour of the picture."""
    alike: dict[Colour, Counter[Colour]] = {}
    for colour, count in counts.items():
        alike.setdefault(tuple(part >> 4 for part in colour), Counter())[colour] = count
    groups = sorted(alike.values(), key=Counter.total, reverse=True)[:256]
    palette = [group.most_common(1)[0][0] for group in groups]
    places = range(len(palette))
    return palette, {
        colour: min(places, key=lambda at: far(palette[at], colour)) for colour in counts
    }


def far(one: Colour, other: Colour) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def chunks(png: bytes, wanted: bytes) -> Iterator[bytes]:
    at = 8
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        if name == wanted:
            yield png[at + 8 : at + 8 + size]
        at += size + 12


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def unfiltered(data: bytes, length: int, step: int) -> list[bytearray]:
    """The rows of a PNG without their filters (RFC 2083, section 6)."""
    rows = []
    above = bytearray(length)
    for start in range(0, len(data), length + 1):
        kind, row = data[start], bytearray(data[start + 1 : start + 1 + length])
        for at in range(length) if kind else ():
            left = row[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            guess = (0, left, above[at], (left + above[at]) // 2, paeth(left, above[at], corner))
            row[at] = (row[at] + guess[kind]) & 255
        rows.append(row)
        above = row
    return rows


def paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for shot in SHOTS:
            if not sys.argv[1:] or shot.name in sys.argv[1:]:
                take(browser, url, shot)
        browser.close()


if __name__ == "__main__":
    main()

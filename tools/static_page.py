"""Make the page without a server: `python tools/static_page.py` leaves it in dist/page/.

Any file server can serve the folder, at any path. The page shows text, tree and calls of what is
pasted, and plays the examples; it does not offer what needs a server.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

import page_bundle

from jsonrill_server.access import CSP

ROOT: Final = Path(__file__).resolve().parent.parent


def policy() -> str:
    """Return the server's policy without the directives that only a header can have."""
    return "; ".join(part for part in CSP.split("; ") if not part.startswith("frame-ancestors"))


def html(text: str) -> str:
    """Return the page as a document that has no server."""
    text = text.replace("<html ", '<html data-server="off" ', 1)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy()}" />'
    return text.replace("<head>\n", f"<head>\n    {meta}\n", 1)


def build(folder: Path, npm: str) -> list[Path]:
    """Write the page into `folder`, which is emptied before; returns its files."""
    shutil.rmtree(folder, ignore_errors=True)
    page_bundle.install(npm)
    page_bundle.bundle(folder / "web" / "page")
    index = folder / "web" / "page" / "index.html"
    (folder / "index.html").write_text(html(index.read_text("utf8")), "utf8", newline="\n")
    index.unlink()
    return sorted(file for file in folder.rglob("*") if file.is_file())


def main() -> int:
    npm = shutil.which("npm")
    if npm is None:
        print("the page is bundled with node and npm, which are not installed", file=sys.stderr)
        return 1
    folder = ROOT / "dist" / "page"
    files = build(folder, npm)
    size = sum(file.stat().st_size for file in files)
    print(f"dist/page: {len(files)} files, {size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

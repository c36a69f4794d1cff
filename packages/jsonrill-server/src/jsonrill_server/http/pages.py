"""The page and its modules, as files: GET / and GET /web/{name}.

The files are public, so that no token is needed to get them; the requests that the page then makes
need one as always. Only the files of the package are there, as they are, and those of the page,
bundled and under a hash (`bundle.py`): no path is looked up.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from jsonrill import __version__

from ..problems import Problem
from .bundle import INDEX, page_files

LIBRARY: Final = "js/src/"
TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class File:
    """A file as it is sent: its bytes, compressed when that is first asked for, and its headers."""

    def __init__(self, name: str, body: bytes, hashed: bool) -> None:
        self.body = body
        self.tag = hashlib.sha256(body).hexdigest()[:32]
        kind = name.rpartition(".")[2]
        self.headers = {
            "content-type": TYPES[kind],
            # Below a hash is what never changes; the rest is sent again only when it has changed.
            "cache-control": "public, max-age=31536000, immutable" if hashed else "no-cache",
            "vary": "accept-encoding",
        }
        if kind in ("css", "js"):  # the page's policy is for documents, and long
            self.headers["content-security-policy"] = "default-src 'none'"

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.body, 9, mtime=0)


def load(demo: bool, relay: bool = False) -> dict[str, File]:
    """Every file of the page by its name.

    The page is told whether there are examples (`demo`), and whether it may ask models (`relay`).
    """
    texts = sources()
    delivered = page_files(texts)
    html = delivered.pop(INDEX)
    html = html.replace('data-version=""', f'data-version="{__version__}"')
    if demo:
        html = html.replace('data-demo="off"', 'data-demo="on"')
    if relay:
        html = html.replace("<html ", '<html data-upstream="on" ', 1)
    return {
        **{name: File(name, text.encode(), hashed=False) for name, text in texts.items()},
        # The address of the library for pages of others.
        **{
            name.replace(LIBRARY, "lib/"): File(name, text.encode(), hashed=False)
            for name, text in texts.items()
            if name.startswith(LIBRARY)
        },
        **{name: File(name, text.encode(), hashed=True) for name, text in delivered.items()},
        "": File(INDEX, html.encode(), hashed=False),
    }


def sources() -> dict[str, str]:
    """The texts of all files of the page and of the library for browsers, by name.

    A wheel has their folders in `web/`, a clone at its root.
    """
    installed, clone = Path(__file__).parents[1] / "web", Path(__file__).parents[5]
    root = installed if installed.is_dir() else clone
    return {
        name: file.read_text("utf8")
        for folder in ("page", "js/src")
        for name, file in _files(root / folder, f"{folder}/")
        if name.rpartition(".")[2] in TYPES
    }


def _files(folder: Path, before: str) -> Iterator[tuple[str, Path]]:
    """The files in a folder and those below it, each with its path."""
    for item in folder.iterdir():
        if item.name == "tests":
            continue
        name = f"{before}{item.name}"
        if item.is_dir():
            yield from _files(item, f"{name}/")
        else:
            yield name, item


async def index(request: Request) -> Response:
    """GET /: the page."""
    return _answer(request, "")


async def web(request: Request) -> Response:
    """GET /web/{name}: what the page is made of, for other pages of this origin, too."""
    # An empty name is that of the page itself, which is at `/` alone.
    return _answer(request, str(request.path_params["name"]) or "web")


def _answer(request: Request, name: str) -> Response:
    pages: dict[str, File] = request.app.state.pages
    file = pages.get(name)
    if file is None:
        raise Problem(404, "NOT_FOUND", "there is no such file")
    zipped = _takes_gzip(request.headers.get("accept-encoding", ""))
    encoding = {"content-encoding": "gzip"} if zipped else {}
    headers = {**file.headers, "etag": f'"{file.tag}{"-gzip" if zipped else ""}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.gzipped if zipped else file.body, headers={**headers, **encoding})


def _takes_gzip(accepted: str) -> bool:
    for item in accepted.lower().split(","):
        name, _, rest = item.partition(";")
        if name.strip() == "gzip":
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", rest)
    return False

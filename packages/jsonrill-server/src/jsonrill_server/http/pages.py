"""The page and its modules, as files: GET / and GET /web/{name}.

The files are public, so that no token is needed to get them; the requests that the page then makes
need one as always. Only the files of the page and of the library for browsers are there: no path is
looked up. A clone has them as they are written, a wheel has a bundle of the page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from jsonrill import __version__

from ..demo.models import examples
from ..problems import Problem

INDEX: Final = "page/index.html"
LIBRARY: Final = "js/src/"
# What the simulated models write, for a page that has none; made when it is first asked for.
EXAMPLES: Final = "page/examples.json"
# What tools/page_bundle.py writes there has a hash in its name.
HASHED: Final = "page/bundle/"
TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
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
            # What has a hash in its name never changes; the rest is sent again when it has changed.
            "cache-control": "public, max-age=31536000, immutable" if hashed else "no-cache",
            "vary": "accept-encoding",
        }
        if kind in ("css", "js"):  # the page's policy is for documents, and long
            self.headers["content-security-policy"] = "default-src 'none'"

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.body, 9, mtime=0)


def load(demo: bool, relay: bool = False, in_memory: bool = False) -> dict[str, File]:
    """Every file of the page by its name.

    The page is told whether there are simulated models (`demo`), whether it may ask models
    (`relay`), and whether a restart loses all streams (`in_memory`).
    """
    texts = sources()
    html = texts.pop(INDEX).replace('data-version=""', f'data-version="{__version__}"')
    if demo:
        html = html.replace('data-demo="off"', 'data-demo="on"')
    if relay:
        html = html.replace("<html ", '<html data-upstream="on" ', 1)
    if in_memory:
        html = html.replace("<html ", '<html data-store="memory" ', 1)
    return {
        **{
            name: File(name, text.encode(), hashed=name.startswith(HASHED))
            for name, text in texts.items()
        },
        # The address of the library for pages of others.
        **{
            name.replace(LIBRARY, "lib/"): File(name, text.encode(), hashed=False)
            for name, text in texts.items()
            if name.startswith(LIBRARY)
        },
        "": File(INDEX, html.encode(), hashed=False),
    }


def root() -> Path:
    """The folder that has the page and the library for browsers: in a wheel, or that of a clone."""
    installed = Path(__file__).parents[1] / "web"
    return installed if installed.is_dir() else Path(__file__).parents[5]


def sources() -> dict[str, str]:
    """The texts of all files of the page and of the library for browsers, by name."""
    return {
        name: file.read_text("utf8")
        for folder in ("page", "js/src")
        for name, file in _files(root() / folder, f"{folder}/")
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
    if name == EXAMPLES and name not in pages:
        pages[name] = File(name, json.dumps({"models": examples()}).encode(), hashed=False)
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

"""The page and its modules, as files: GET / and GET /web/{name}; and what it asks about a text.

The files are public, so that no token is needed to get them; the requests that the page then makes
need one as always. Only the files of the package are there: no path is looked up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ... import providers
from ...providers.statements import CallDelta
from ..access.permissions import require_subject
from ..problems import Problem
from .publish import read_body

INDEX: Final = "page/index.html"
_TYPES: Final = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


# More than the page sends of a text.
_MOST: Final = 256 * 1024


class File(NamedTuple):
    body: bytes
    type: str
    tag: str


def load(demo: bool) -> dict[str, File]:
    """Every file of the page by its name; `demo` tells the page whether there are models."""
    found = {}
    for name, file in _files(files("jsonrill") / "web"):
        kind = _TYPES.get(name.rpartition(".")[2])
        if kind is not None:
            body = file.read_bytes()
            if name == INDEX and demo:
                body = body.replace(b'data-demo="off"', b'data-demo="on"')
            found[name] = File(body, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    return found


def _files(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    """The files in a folder and those below it, each with its path."""
    for item in folder.iterdir():
        name = f"{before}{item.name}"
        if item.is_dir():
            yield from _files(item, f"{name}/")
        else:
            yield name, item


async def index(request: Request) -> Response:
    """GET /: the page."""
    return _answer(request, INDEX)


async def web(request: Request) -> Response:
    """GET /web/{name}: what the page is made of, for other pages of this origin, too."""
    return _answer(request, str(request.path_params["name"]))


async def recognise(request: Request) -> Response:
    """POST /recognise: whose events these lines are, and whether tool calls are among them."""
    require_subject(request)
    lines = (await read_body(request, _MOST)).split(b"\n")
    reader = providers.Reader()
    said = [one for line in lines for one in reader.feed(line)]
    calls = any(type(one) is CallDelta and one.opens for one in said)
    return JSONResponse({"provider": providers.recognise(lines[0]), "calls": calls})


def _answer(request: Request, name: str) -> Response:
    pages: dict[str, File] = request.app.state.pages
    file = pages.get(name)
    if file is None:
        raise Problem(404, "NOT_FOUND", "there is no such file")
    # Asked for again each time, and sent again only when it has changed.
    headers = {"etag": file.tag, "cache-control": "no-cache"}
    if file.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers={**headers, "content-type": file.type})

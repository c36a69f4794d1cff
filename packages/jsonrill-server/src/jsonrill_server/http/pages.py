"""The page and its modules, as files: GET / and GET /web/{name}.

The files are public, so that no token is needed to get them; the requests that the page then makes
need one as always. Only the files of the page and of the library for browsers are there: no path is
looked up. A clone has them as they are written, a wheel has a bundle of the page.
"""

from __future__ import annotations

import hashlib
import json
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
# What tools/page_bundle.py writes there has a hash in its name, and so never changes.
HASHED: Final = "page/bundle/"
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


def load(demo: bool, in_memory: bool = False) -> dict[str, bytes]:
    """Every file of the page by its name.

    The page is told whether there are simulated models (`demo`), and whether a restart loses all
    streams (`in_memory`).
    """
    files = {
        path.relative_to(root()).as_posix(): path.read_bytes()
        for folder in ("page", LIBRARY)
        for path in (root() / folder).rglob("*")
        if path.suffix in TYPES and "tests" not in path.relative_to(root()).parts
    }
    html = files[INDEX].decode().replace('data-version=""', f'data-version="{__version__}"')
    if demo:
        html = html.replace('data-demo="off"', 'data-demo="on"')
    if in_memory:
        html = html.replace("<html ", '<html data-store="memory" ', 1)
    files[INDEX] = html.encode()
    # The address of the library for pages of others.
    return files | {
        f"lib/{name.removeprefix(LIBRARY)}": body
        for name, body in files.items()
        if name.startswith(LIBRARY)
    }


def root() -> Path:
    """The folder that has the page and the library for browsers: in a wheel, or that of a clone."""
    installed = Path(__file__).parents[1] / "web"
    return installed if installed.is_dir() else Path(__file__).parents[5]


async def index(request: Request) -> Response:
    """GET /: the page."""
    return _answer(request, INDEX)


async def web(request: Request) -> Response:
    """GET /web/{name}: what the page is made of, for other pages of this origin, too."""
    return _answer(request, str(request.path_params["name"]))


def _answer(request: Request, name: str) -> Response:
    files: dict[str, bytes] = request.app.state.pages
    if name == EXAMPLES and name not in files:
        files[name] = json.dumps({"models": examples()}).encode()
    # The page itself is at `/` alone.
    if name not in files or (name == INDEX and request.url.path.endswith(INDEX)):
        raise Problem(404, "NOT_FOUND", "there is no such file")
    body = files[name]
    kept = "public, max-age=31536000, immutable" if name.startswith(HASHED) else "no-cache"
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    suffix = Path(name).suffix
    headers = {"content-type": TYPES[suffix], "cache-control": kept, "etag": tag}
    if suffix in (".css", ".js"):  # the page's policy is for documents, and long
        headers["content-security-policy"] = "default-src 'none'"
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers)

"""The page and its modules: GET / and GET /web/{name}.

The files are public; the requests that the page makes need a token as always. A clone has them as
they are written, a wheel has a bundle of the page.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from jsonrill import __version__

from .access import Problem

INDEX: Final = "page/index.html"
LIBRARY: Final = "js/src/"
# Files that tools/page_bundle.py writes there have a hash in their name, and never change.
HASHED: Final = "page/bundle/"
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


def root() -> Path:
    """Return the folder of the page and of the library for browsers: in a wheel, or in a clone."""
    installed = Path(__file__).parent / "web"
    return installed if installed.is_dir() else Path(__file__).parents[4]


def load() -> dict[str, bytes]:
    """Return every file by its name."""
    files = {
        path.relative_to(root()).as_posix(): path.read_bytes()
        for folder in ("page", LIBRARY)
        for path in (root() / folder).rglob("*")
        if path.suffix in TYPES and "tests" not in path.relative_to(root()).parts
    }
    html = files[INDEX].decode().replace('data-version=""', f'data-version="{__version__}"')
    files[INDEX] = html.encode()
    # The address of the library for other pages.
    return files | {
        f"lib/{name.removeprefix(LIBRARY)}": body
        for name, body in files.items()
        if name.startswith(LIBRARY)
    }


def add_routes(app: FastAPI) -> None:
    files = load()

    async def index(request: Request) -> Response:
        return _file(files, INDEX, request)

    async def web(request: Request) -> Response:
        name = str(request.path_params["name"])
        if name not in files or name == INDEX:  # the page itself is at / alone
            raise Problem(404, "NOT_FOUND", "there is no such file")
        return _file(files, name, request)

    app.add_api_route("/", index, include_in_schema=False)
    app.add_api_route("/web/{name:path}", web, include_in_schema=False)


def _file(files: dict[str, bytes], name: str, request: Request) -> Response:
    body, suffix = files[name], Path(name).suffix
    is_hashed = name.startswith(HASHED)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {
        "content-type": TYPES[suffix],
        "cache-control": "public, max-age=31536000, immutable" if is_hashed else "no-cache",
        "etag": tag,
    }
    if suffix in (".css", ".js"):  # the page's policy is for documents, and long
        headers["content-security-policy"] = "default-src 'none'"
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Compressed(body, headers=headers)


class Compressed(Response):
    """A response that is compressed. Event streams must not be: they would be held back."""

    async def __call__(self, *connection: Any) -> None:
        plain: ASGIApp = super().__call__
        await GZipMiddleware(plain)(*connection)

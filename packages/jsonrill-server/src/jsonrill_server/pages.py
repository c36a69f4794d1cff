"""The page at / and its modules below /web, as files.

The files are public, but the page's requests need a token. A clone serves the source modules, a
wheel contains a bundle.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from jsonrill import __version__


def root() -> Path:
    """Return the folder of the page and the JavaScript library, in a wheel or in a clone."""
    installed = Path(__file__).parent / "web"
    return installed if installed.is_dir() else Path(__file__).parents[4]


class Files(StaticFiles):
    """Serve files that a browser may cache but has to revalidate."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response


def add_routes(app: FastAPI) -> None:
    html = (root() / "page/index.html").read_text("utf-8")
    html = html.replace('data-version=""', f'data-version="{__version__}"')

    async def index() -> Response:
        return HTMLResponse(html, headers={"cache-control": "no-cache"})

    app.add_api_route("/", index, include_in_schema=False)
    for path, folder in (("page", "page"), ("js/src", "js/src"), ("lib", "js/src")):
        app.mount(f"/web/{path}", GZipMiddleware(Files(directory=root() / folder)))

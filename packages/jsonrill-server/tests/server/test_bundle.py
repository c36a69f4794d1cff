"""The page as a clone serves it, in its modules, and as a wheel does, bundled by esbuild."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import page_bundle
import pytest

from jsonrill_server.http import pages
from support import ROOT, need_command
from support.asgi import asked


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `web` of a wheel."""
    page_bundle.install(need_command("npm"))
    web = tmp_path_factory.mktemp("bundle")
    page_bundle.bundle(web / "page")
    shutil.copytree(ROOT / "js" / "src", web / "js" / "src")
    return web


def named_in(html: str) -> list[str]:
    return re.findall(r'(?:src|href)="(web/[^"]+)"', html)


def test_the_bundle_is_small_and_its_html_names_files_of_it(bundled: Path) -> None:
    html = (bundled / "page" / "index.html").read_text("utf8")
    names = named_in(html)
    # The chunks of the page's module are named too, so that they are fetched at once.
    assert 4 <= len(names) <= 16
    first = [html.encode(), *((bundled / name.removeprefix("web/")).read_bytes() for name in names)]
    assert sum(len(gzip.compress(data, 9)) for data in first) < 95_000


def test_a_wheel_serves_its_bundle_and_keeps_hashed_names_for_ever(
    bundled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "root", lambda: bundled)
    html = asked("GET", "/").text
    for path in named_in(html):
        plain = asked("GET", f"/{path}", headers={"accept-encoding": "br, gzip;q=0"})
        zipped = asked("GET", f"/{path}", headers={"accept-encoding": "br, gzip"})
        assert plain.status_code == 200 and plain.headers["vary"] == "accept-encoding"
        kept = "bundle" in path
        assert plain.headers["cache-control"] == (
            "public, max-age=31536000, immutable" if kept else "no-cache"
        )
        assert "content-encoding" not in plain.headers
        assert zipped.headers["content-encoding"] == "gzip" and zipped.content == plain.content
        assert zipped.headers["etag"] != plain.headers["etag"]
    assert asked("GET", "/web/lib/index.js").status_code == 200
    assert asked("GET", "/web/page/bundle/page-0.js").status_code == 404


def test_a_clone_serves_the_modules_as_they_are() -> None:
    html = asked("GET", "/").text
    for path in named_in(html):
        answer = asked("GET", f"/{path}")
        assert answer.content == (ROOT / path.removeprefix("web/")).read_bytes()
        assert answer.headers["cache-control"] == "no-cache"

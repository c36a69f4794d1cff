"""What pyproject.toml cannot say: the version, which is the library's, and the page's files.

The page and the library for browsers are other folders of the repository; a wheel has them in
`jsonrill_server/web`, the page bundled by esbuild where there is npm; a clone serves them as they
are, from where they are.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def version() -> str:
    """Return the library's version, which is defined only there.

    A source distribution does not contain the library; its PKG-INFO has the version.
    """
    for file, pattern in (
        (HERE.parent / "jsonrill/src/jsonrill/__init__.py", r'^__version__ = "(.+)"$'),
        (HERE / "PKG-INFO", r"^Version: (.+)$"),
    ):
        if file.is_file() and (match := re.search(pattern, file.read_text("utf8"), re.MULTILINE)):
            return match[1]
    raise SystemExit("no version: neither the library nor PKG-INFO is here")


class Build(build_py):
    """Adds the page and the library for browsers to what is built; not to an editable install."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        web = Path(self.build_lib, "jsonrill_server", "web")
        shutil.copytree(ROOT / "js" / "src", web / "js" / "src", dirs_exist_ok=True)
        try:
            sys.path.insert(0, str(ROOT / "tools"))
            import page_bundle

            page_bundle.install(str(shutil.which("npm")))
            page_bundle.bundle(web / "page")
        except (ImportError, OSError, subprocess.CalledProcessError) as error:
            say(f"the page is in many small files, because it could not be bundled: {error}")
            tests = shutil.ignore_patterns("tests")
            shutil.copytree(ROOT / "page", web / "page", ignore=tests, dirs_exist_ok=True)
        else:
            say("the page is bundled")


def say(text: str) -> None:
    print(f"jsonrill-server: {text}", file=sys.stderr)


setup(
    cmdclass={"build_py": Build},
    version=version(),
    install_requires=[
        f"jsonrill[pydantic,jsonschema,cli]=={version()}",
        "fastapi>=0.115",
        "prometheus-client>=0.20",
        "pydantic-settings>=2.8",
        "uvicorn[standard]>=0.30",
    ],
)

"""The version and the requirements, which depend on the version of the library."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent


def version() -> str:
    """Return the version of the library; in a source distribution it is in PKG-INFO."""
    for file, pattern in (
        (HERE.parent / "jsonrill/src/jsonrill/__init__.py", r'^__version__ = "(.+)"$'),
        (HERE / "PKG-INFO", r"^Version: (.+)$"),
    ):
        if file.is_file() and (match := re.search(pattern, file.read_text("utf8"), re.MULTILINE)):
            return match[1]
    raise SystemExit("no version: neither the library nor PKG-INFO is here")


setup(
    version=version(),
    install_requires=[
        f"jsonrill[pydantic,jsonschema,cli]=={version()}",
        "dask[distributed]>=2025.1",
        "pyarrow>=17",
    ],
)

"""What pyproject.toml cannot say: the version, which is the library's."""

import re
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent


def version() -> str:
    """The version of the library, which is the only place where it is written.

    A source distribution has no library beside it: there it stands in PKG-INFO.
    """
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

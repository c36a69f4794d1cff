"""How the library is built: as setuptools does it, with Cython only where something is compiled.

With JSONRILL_PURE=1 nothing is, and nothing but setuptools has to be fetched.
"""

import os
from typing import Any

from setuptools.build_meta import *  # noqa: F403

# The oldest Cython that can put what all modules share into one of them.
CYTHON = (3, 3)


def is_pure() -> bool:
    """Return True if the environment asks for a build without compiled modules."""
    return os.environ.get("JSONRILL_PURE", "0") not in ("", "0")


def _needed() -> list[str]:
    return [] if is_pure() else ["cython>=" + ".".join(map(str, CYTHON))]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return _needed()


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return _needed()


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return []

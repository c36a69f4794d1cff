"""The hot modules compile as they are, with Cython and the types in the `.pxd` beside each.

Without Cython or a C compiler, or with JSONRILL_PURE=1, the same modules are used as Python.
"""

import os

from setuptools import Extension, setup

HOT = (
    "paths",
    *("parse.sink", "parse.position", "parse.c_scanner", "parse.machine", "parse.create"),
    *("parse.lenient.around", "parse.lenient.by_schema", "parse.lenient.words"),
    *("parse.lenient.numbers", "parse.lenient.strings", "parse.lenient.quotes"),
    *("parse.lenient.brackets", "parse.lenient.inside"),
    *("wire.fragment", "wire.cursor", "wire.full", "wire.compact", "wire.reader", "wire.parser"),
    *("build.builder", "build.rebuilder", "build.document", "build.field_sink"),
)


def extensions() -> list[Extension]:
    if os.environ.get("JSONRILL_PURE", "0") not in ("", "0"):
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    modules = [
        Extension(f"jsonrill.{name}", [f"src/jsonrill/{name.replace('.', '/')}.py"]) for name in HOT
    ]
    found: list[Extension] = cythonize(
        modules,
        build_dir="build/cython",
        quiet=True,
        language_level=3,
        # The annotations are for people and mypy; the compiler has the .pxd files.
        compiler_directives={"annotation_typing": False},
    )
    # Set here, because `cythonize` returns new extensions, which do not keep it.
    for module in found:
        module.optional = True
    return found


setup(ext_modules=extensions())

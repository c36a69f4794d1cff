"""The hot modules compile as they are, with Cython and the types in the `.pxd` beside each.

Without Cython or a C compiler, or with JSONRILL_PURE=1, the same modules are used as Python. A
compiler is looked for first, because translating the modules takes long. The build says which of
the two it made (`pip install -v` shows it, `jsonrill --version` tells later).
"""

import os
import re
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build_ext import build_ext

HOT = (
    *("paths", "jsontext", "eventstream"),
    *("parse.sink", "parse.position", "parse.c_scanner", "parse.machine", "parse.create"),
    *("parse.lenient.around", "parse.lenient.by_schema", "parse.lenient.words"),
    *("parse.lenient.numbers", "parse.lenient.strings", "parse.lenient.quotes"),
    *("parse.lenient.brackets", "parse.lenient.inside"),
    *("wire.fragment", "wire.cursor", "wire.full", "wire.compact", "wire.reader", "wire.parser"),
    *("build.builder", "build.rebuilder", "build.document", "build.field_sink"),
    *("chunker.snapshot", "chunker.prefix", "chunker.text", "chunker.compare", "chunker.leaves"),
    *("chunker.frames", "chunker.spine", "chunker.chunker"),
    *("providers.fields", "providers.statements", "providers.models", "providers.reader"),
    "providers.openai_chat",
    *("toolcalls.arguments", "toolcalls.call", "toolcalls.identity", "toolcalls.lifecycle"),
    "toolcalls.calls",
    *("partial_stream.replay", "partial_stream.log", "partial_stream.entities"),
    *("partial_stream.update", "partial_stream.stream"),
    *("schema.nodes", "schema.branches", "schema.walk", "schema.check", "schema.makers"),
    *("schema.typed", "schema.document"),
)
# Without symbols, which are more than half of a compiled module.
COMPILE, LINK = {
    "linux": (["-g0"], ["-Wl,--strip-all"]),
    "darwin": (["-g0"], ["-Wl,-S,-x"]),
}.get(sys.platform, ([], []))


def say(text: str) -> None:
    print(f"jsonrill: {text}", file=sys.stderr)


def can_compile() -> bool:
    """True if there is a C compiler, and the headers of Python."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("#include <Python.h>\nint tried(void) { return 0; }\n")
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            headers = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
            compiler.compile([str(source)], output_dir=folder, include_dirs=sorted(headers))
        except Exception as error:  # each platform fails in its own way
            say(f"{type(error).__name__}: {error}")
            return False
    return True


def extensions() -> list[Extension]:
    if os.environ.get("JSONRILL_PURE", "0") not in ("", "0"):
        say("pure Python, because JSONRILL_PURE is set")
        return []
    try:
        from Cython import __version__ as cython
        from Cython.Build import cythonize
    except ImportError:
        say("pure Python, because Cython is not installed")
        return []
    if not can_compile():
        say("pure Python, because there is no C compiler, or no Python.h")
        return []
    modules = [
        Extension(
            f"jsonrill.{name}",
            [f"src/jsonrill/{name.replace('.', '/')}.py"],
            extra_compile_args=COMPILE,
            extra_link_args=LINK,
        )
        for name in HOT
    ]
    say(f"translating {len(modules)} modules to C with Cython {cython}")
    found: list[Extension] = cythonize(
        modules,
        build_dir="build/cython",
        quiet=True,
        language_level=3,
        compiler_directives={
            # The annotations are for people and mypy; the compiler has the .pxd files.
            "annotation_typing": False,
            # No module has state of its own that changes: threads share nothing but constants.
            "freethreading_compatible": True,
        },
    )
    # Set here, because `cythonize` returns new extensions, which do not keep it.
    for module in found:
        module.optional = True
    return found


class Build(build_ext):
    """Compiles what can be compiled, and says what that was.

    A part of the modules would be a third version that nobody tests: all are kept, or none.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or True  # as many at once as there are processors

    def run(self) -> None:
        super().run()
        if not self.extensions:
            return
        made = [Path(self.get_ext_fullpath(module.name)) for module in self.extensions]
        there = [file for file in made if file.is_file()]
        if len(there) == len(made):
            size = sum(file.stat().st_size for file in there) / 1e6
            say(f"made the compiled version: {len(there)} modules, {size:.1f} MB")
            return
        for file in there:
            file.unlink()
        say("made the pure Python version, because compiling failed (see above)")


def readme() -> str:
    """README.md for an index of packages: without pictures, and without links to other pages."""
    text = (Path(__file__).parent / "README.md").read_text("utf8")
    text = re.sub(r"<!--.*?-->\n|!\[[^\]]*\]\([^)]*\)\n+", "", text)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": Build},
    long_description=readme(),
    long_description_content_type="text/markdown",
)

"""The hot modules compile as they are, with Cython and the types in the `.pxd` beside each.

Without Cython or a C compiler, or with JSONRILL_PURE=1, the same modules are used as Python. The
build says which of the two it made (`pip install -v` shows it, `jsonrill --version` tells later).
With JSONRILL_UNOPTIMISED=1 the C compiler does not optimise: for tests, in half the time.
"""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from jsonrill_build import CYTHON, is_pure
from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build_ext import build_ext

# Compiled are the modules that a piece of text or an event passes and that gain from it: `paths`,
# `jsontext`, `eventstream` and `chunker.snapshot` do not.
HOT = (
    "fragment",
    *("parse.scanner", "parse.machine"),
    "parse.repair",
    "document",
    *("partial_stream.recorder", "partial_stream.update", "partial_stream.stream"),
    "chunker.frames",
    # Not `toolcalls`: CPython reads the slots of its objects faster (5.7 µs an event, not 6.5).
    *("providers.fields", "providers.openai_chat"),
    "schema.check",
)
# The path of every piece is compiled for speed, the rest for size: a third smaller, a tenth slower.
FAST = (
    *("parse.scanner", "parse.machine"),
    *("document", "partial_stream.recorder"),
)
# What Cython would put into each of them is in this module once.
SHARED = "_shared"
DIRECTIVES = {
    # The annotations are for people and mypy; the compiler has the .pxd files.
    "annotation_typing": False,
    # Makes modules a tenth smaller; functions lose their signatures, as in other C modules.
    "binding": False,
    # No module has state of its own that changes: threads share nothing but constants.
    "freethreading_compatible": True,
}
COMPILE, LINK = {
    "linux": (["-g0", "-fno-asynchronous-unwind-tables"], ["-Wl,--strip-all"]),
    "darwin": (["-g0"], ["-Wl,-S,-x"]),
}.get(sys.platform, ([], []))


def say(text: str) -> None:
    print(f"jsonrill: {text}", file=sys.stderr)


def can_compile() -> bool:
    """Return whether there is a C compiler, and the headers of Python."""
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


def extension(name: str, source: str) -> Extension:
    is_unoptimised = os.environ.get("JSONRILL_UNOPTIMISED") == "1"
    optimisation = "-O0" if is_unoptimised else "-O2" if name in FAST else "-Os"
    flags = [*COMPILE, optimisation] if COMPILE else []
    return Extension(f"jsonrill.{name}", [source], extra_compile_args=flags, extra_link_args=LINK)


def extensions() -> list[Extension]:
    if is_pure():
        say("pure Python, because JSONRILL_PURE is set")
        return []
    try:
        from Cython import __version__ as cython
        from Cython.Build import cythonize
    except ImportError:
        say("pure Python, because Cython is not installed")
        return []
    if tuple(map(int, cython.split(".")[:2])) < CYTHON:
        needed = ".".join(map(str, CYTHON))
        say(f"pure Python, because Cython {cython} is too old: {needed} or newer is needed")
        return []
    if not can_compile():
        say("pure Python, because there is no C compiler, or no Python.h")
        return []
    say(f"translating {len(HOT)} modules to C with Cython {cython}")
    shared = Path("build/cython/_shared.c")
    # Cython compares a module with its sources, not with the directives here.
    is_stale = not shared.exists() or shared.stat().st_mtime < Path(__file__).stat().st_mtime
    modules = cythonize(
        [extension(name, f"src/jsonrill/{name.replace('.', '/')}.py") for name in HOT],
        build_dir="build/cython",
        quiet=True,
        force=is_stale,
        language_level=3,
        shared_utility_qualified_name=f"jsonrill.{SHARED}",
        compiler_directives=DIRECTIVES,
    )
    if is_stale:
        words = ("generate-shared", "--exclude=MemoryView", f"--module-name=jsonrill.{SHARED}")
        subprocess.run([sys.executable, "-m", "cython", *words, shared], check=True)
    modules.append(extension(SHARED, str(shared)))
    for module in modules:
        module.optional = True
    return modules


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
        files = [Path(self.get_ext_fullpath(module.name)) for module in self.extensions]
        made = [file for file in files if file.is_file()]
        if len(made) == len(files):
            size = sum(file.stat().st_size for file in made) / 1e6
            say(f"made the compiled version: {len(made)} modules, {size:.1f} MB")
            return
        for file in made:
            file.unlink()
        say("made the pure Python version, because compiling failed (see above)")


def readme() -> str:
    """Return README.md for an index of packages: without pictures and links to other pages."""
    text = (Path(__file__).parent / "README.md").read_text("utf8")
    text = re.sub(r"<!--.*?-->\n|!\[[^\]]*\]\([^)]*\)\n+", "", text)
    return re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": Build},
    long_description=readme(),
    long_description_content_type="text/markdown",
)

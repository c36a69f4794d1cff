"""The hot modules compile as they are, with Cython and the types in the `.pxd` beside each.

Without Cython or a C compiler, or with JSONRILL_PURE=1, the same modules are used as Python. A
compiler is looked for first, because translating the modules takes long. The build says which of
the two it made (`pip install -v` shows it, `jsonrill --version` tells later).
With JSONRILL_UNOPTIMISED=1 the C compiler does not optimise: for tests, in half the time.
"""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from jsonrill_build import CYTHON, is_pure
from setuptools import Extension, setup
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler
from setuptools.command.build_ext import build_ext

# Compiled are the modules that a piece or an event passes, in three groups.
# These have functions and classes that users see: with signatures.
PUBLIC = (
    *("paths", "jsontext", "eventstream", "build.document", "build.rebuilder"),
    *("wire.fragment", "wire.compact", "wire.parser"),
    *("providers.call_delta", "toolcalls.call", "toolcalls.lifecycle", "toolcalls.calls"),
    *("partial_stream.update", "partial_stream.stream"),
)
# What these are made of, so that their copies and pickles hold objects of these modules.
PARTS = (
    *("parse.sink", "parse.position", "parse.characters", "parse.machine", "parse.create"),
    "parse.nesting",
    *("parse.repair", "wire.cursor", "build.builder"),
    *("chunker.snapshot", "chunker.frames"),
    "toolcalls.arguments",
)
# What nobody can copy: what belongs to a stream that refuses it, and classes without objects.
PRIVATE = (
    *("providers.fields", "providers.reader", "providers.openai_chat"),
    *("partial_stream.replay", "partial_stream.log", "partial_stream.entities"),
    *("schema.early", "schema.check", "schema.typed", "schema.document"),
)
HOT = (*PUBLIC, *PARTS, *PRIVATE)
# What Cython would put into each of them is in this module once.
SHARED = "_shared"
# Compiled for speed, because a benchmark would be over 5 % slower; others for size.
FAST = {
    *("paths", "jsontext", "eventstream", "parse.sink", "parse.nesting", "parse.characters"),
    *("build.document", "wire.fragment", "wire.compact", "wire.cursor", "wire.parser"),
    *("chunker.snapshot", "chunker.frames"),
    *("partial_stream.replay", "partial_stream.log", "partial_stream.update"),
    *("partial_stream.stream", "schema.check", "schema.typed"),
}
DIRECTIVES = {
    # The annotations are for people and mypy; the compiler has the .pxd files.
    "annotation_typing": False,
    # No module has state of its own that changes: threads share nothing but constants.
    "freethreading_compatible": True,
}
GROUPS = (
    (PUBLIC, {}),
    # Methods without signature, name and code object are a tenth of a module; an only parameter
    # that cannot be named in a call, a twenty-fifth.
    (PARTS, {"binding": False, "always_allow_keywords": False}),
    # What makes copies is a tenth. Without it Python refuses to copy, with a TypeError.
    (PRIVATE, {"binding": False, "always_allow_keywords": False, "auto_pickle": False}),
)
# Without symbols, tables for debuggers, and gaps between the parts of a file. Modules that are
# compiled for speed are inlined as -O3 would, but for what is unlikely: what follows an error.
# The others look up a global name every time: what remembers its place is a twentieth of a module.
# And they are compiled without the steps that take a fifth of the time and make them no smaller.
COMPILE, SMALL, QUICK, LINK = {
    "linux": (
        ["-g0", "-fno-asynchronous-unwind-tables"],
        [
            *("-Os", "-DCYTHON_USE_DICT_VERSIONS=0", "-fno-gcse", "-fno-code-hoisting"),
            *("-fno-tree-pre", "-fno-tree-vrp", "-fno-tree-dominator-opts"),
        ],
        [
            *("-O2", "-fno-align-functions", "-fno-align-loops", "-fno-align-jumps"),
            *("--param=builtin-expect-probability=100", "--param=max-inline-insns-auto=30"),
            *("--param=max-inline-insns-single=200", "--param=inline-min-speedup=15"),
        ],
        ["-Wl,--strip-all", "-Wl,-z,noseparate-code"],
    ),
    "darwin": (["-g0"], ["-Os"], ["-O2"], ["-Wl,-S,-x"]),
}.get(sys.platform, ([], [], [], []))


def say(text: str) -> None:
    print(f"jsonrill: {text}", file=sys.stderr)


def can_compile(flags: Sequence[str] = (), link: Sequence[str] = ()) -> bool:
    """True if there is a C compiler that takes these flags, and the headers of Python."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text("#include <Python.h>\nint tried(void) { return 0; }\n")
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            headers = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
            objects = compiler.compile(
                [str(source)],
                output_dir=folder,
                include_dirs=sorted(headers),
                extra_postargs=list(flags),
            )
            if link:
                library = str(Path(folder, "made"))
                compiler.link_shared_object(objects, library, extra_postargs=list(link))
        except Exception as error:  # each platform fails in its own way
            say(f"{type(error).__name__}: {error}")
            return False
    return True


def extension(name: str, source: str, flags: bool) -> Extension:
    compile = [*COMPILE, *(QUICK if name in FAST else SMALL)] if flags else []
    if os.environ.get("JSONRILL_UNOPTIMISED") == "1":
        compile.append("-O0")
    link = LINK if flags else []
    return Extension(f"jsonrill.{name}", [source], extra_compile_args=compile, extra_link_args=link)


def source_of(name: str) -> Path:
    return Path("src", "jsonrill", *name.split(".")).with_suffix(".py")


def extensions() -> list[Extension]:
    if is_pure():
        say("pure Python, because JSONRILL_PURE is set")
        return []
    try:
        from Cython import __version__ as cython
        from Cython.Build import cythonize
        from Cython.Compiler import Options
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
    flags = can_compile([*COMPILE, *SMALL, *QUICK], LINK)
    if not flags:
        say("the compiler does not take the flags that make modules small: they will be large")
    say(f"translating {len(HOT)} modules to C with Cython {cython}")
    shared = Path("build/cython/_shared.c")
    # Cython compares a module with its sources, not with the directives here. This file is last.
    stale = not shared.exists() or shared.stat().st_mtime < Path(__file__).stat().st_mtime
    modules = [extension(SHARED, str(shared), flags)]
    for names, directives in GROUPS:
        Options.docstrings = names is PUBLIC  # the others are read in the sources
        modules += cythonize(
            [extension(name, str(source_of(name)), flags) for name in names],
            build_dir="build/cython",
            quiet=True,
            force=stale,
            language_level=3,
            shared_utility_qualified_name=f"jsonrill.{SHARED}",
            compiler_directives=DIRECTIVES | directives,
        )
    if stale:
        words = ("generate-shared", "--exclude=MemoryView", f"--module-name=jsonrill.{SHARED}")
        subprocess.run([sys.executable, "-m", "cython", *words, shared], check=True)
    # Set here, because `cythonize` returns new extensions, which do not keep it.
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
        there = [file for file in files if file.is_file()]
        if len(there) == len(files):
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

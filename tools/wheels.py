"""Make and try the wheels: `python tools/wheels.py` leaves one for each Python it finds in dist/.

The Pythons are the `VERSIONS` on PATH, or next to the Python on PATH, as pyenv installs them. Each
wheel is built, installed in an environment that has nothing else of jsonrill, and has to pass the
tests of the core there. Then the source distribution is unpacked, installed from there without a
compiler, and runs its own tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final
from zipfile import ZipFile

ROOT: Final = Path(__file__).resolve().parent.parent
BUILD: Final = ROOT / "build" / "wheels"
DIST: Final = ROOT / "dist"
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14", "3.15")
LIBRARY: Final = ROOT / "packages" / "jsonrill"
# As in .github/workflows/tests.yml.
CORE: Final = ("parse", "test_document.py", "test_rebuilder.py", "test_fragments.py")
TESTS: Final = tuple(f"packages/jsonrill/tests/{name}" for name in (*CORE, "test_threads.py"))
NEEDED: Final = ("pytest", "hypothesis", "setuptools", "cython")


def pythons() -> dict[str, str]:
    """Return the interpreters found, by version."""
    by_version: dict[str, str] = {}
    pythons_folder = Path(sys.base_prefix).parent
    for version in VERSIONS:
        places = [
            shutil.which(f"python{version}"),
            *sorted(pythons_folder.glob(f"{version}.*/bin/python3")),
        ]
        for place in [str(place) for place in places if place is not None]:
            version_output = subprocess.run(
                [place, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                capture_output=True,
                text=True,
            )
            if version_output.stdout.strip() == version:
                by_version[version] = place
                break
    return by_version


def environment(python: str, folder: Path) -> Path:
    """Make an environment with what builds and tests need; return its interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", folder], check=True)
    pip(folder / "bin" / "python", "install", "-c", str(ROOT / "constraints.txt"), *NEEDED)
    return folder / "bin" / "python"


def pip(python: Path, *words: str, **settings: str) -> None:
    command = [str(python), "-m", "pip", "-q", "--disable-pip-version-check", *words]
    subprocess.run(command, check=True, env={**os.environ, **settings}, cwd=ROOT)


def install_and_test(python: Path, file: Path, compiled: bool, **settings: str) -> None:
    """Install a wheel or a source distribution and run the tests of the core on it."""
    words = ("install", "--no-deps", "--no-build-isolation", "--force-reinstall", str(file))
    pip(python, *words, **settings)
    script = f"import jsonrill; assert jsonrill.compiled is {compiled}, jsonrill.__file__"
    # Without the sources of this folder: what is installed is what is tried.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-c", script], check=True, cwd=BUILD, env=clean)
    tests = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "pythonpath=packages/jsonrill/tests tests",
        *TESTS,
    ]
    subprocess.run([python, "-m", "pytest", *tests], check=True, cwd=ROOT, env=clean)


def unpacked(archive: Path) -> Path:
    """Unpack a source distribution and return its folder."""
    shutil.rmtree(BUILD / "sdist", ignore_errors=True)
    shutil.unpack_archive(archive, BUILD / "sdist", filter="data")
    (folder,) = (BUILD / "sdist").iterdir()
    return folder


def tell(text: str) -> None:
    print(f"wheels: {text}", flush=True)


def sizes(wheel: Path) -> str:
    with ZipFile(wheel) as archive:
        files = archive.infolist()
    binary = [file.file_size for file in files if file.filename.endswith((".so", ".pyd"))]
    total = sum(file.file_size for file in files)
    return (
        f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, installed {total / 1e6:.1f} MB,"
        f" {len(files)} files, of them {len(binary)} compiled ({sum(binary) / 1e6:.1f} MB)"
    )


def main() -> int:
    interpreters = pythons()
    tell(f"Pythons found: {', '.join(interpreters) or 'none'} of {', '.join(VERSIONS)}")
    if not interpreters:
        return 1
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    lines: list[str] = []
    for version, python in interpreters.items():
        tell(f"{version}: building")
        own = environment(python, BUILD / version)
        folder = BUILD / f"made-{version}"
        pip(own, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(LIBRARY))
        (wheel,) = folder.glob("*.whl")
        tell(f"{version}: testing {wheel.name}")
        install_and_test(own, wheel, compiled=True)
        DIST.mkdir(exist_ok=True)
        shutil.copy(wheel, DIST)
        lines.append(sizes(wheel))
        tell(lines[-1])
    sdist = f"from setuptools import build_meta; print(build_meta.build_sdist({str(DIST)!r}))"
    own = BUILD / next(iter(interpreters)) / "bin" / "python"
    done = subprocess.run(
        [own, "-c", sdist], cwd=LIBRARY, check=True, capture_output=True, text=True
    )
    source = DIST / done.stdout.split()[-1]
    tell(f"testing {source.name} without a compiler")
    install_and_test(own, unpacked(source), compiled=False, CC="/bin/false")
    print("\n".join(["", *lines, f"{source.name}: {source.stat().st_size / 1e6:.1f} MB"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The npm package as it would be published: what is in it, its types, its size, a consumer."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support import ROOT, hard, need_command
from support.markdown import Block, read
from support.npm import TOOLS, installed, npm_package, npm_sizes, packed
from support.npm import project as linked

CONSUMER = ROOT / "js" / "tests" / "consumer"
BLOCKS = read((ROOT / "docs" / "javascript.md").read_text("utf8")).blocks
README = read((ROOT / "js" / "README.md").read_text("utf8")).blocks
# What the page's snippet in TypeScript leaves out.
FOR_SNIPPET = """import { toolCalls } from "jsonrill";
declare const stream: Response;
declare function find(query: string): void;
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def tools() -> Path:
    return installed(TOOLS, "npm") / "node_modules"


@pytest.fixture(scope="module")
def tarball() -> Path:
    return packed()


@pytest.fixture(scope="module")
def project(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a program's folder in which the package and the tools are installed."""
    folder = tmp_path_factory.mktemp("consumer")
    shutil.copytree(CONSUMER, folder, dirs_exist_ok=True)
    return linked(folder, tools)


def test_the_tarball_holds_modules_types_and_nothing_else(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        members = archive.getmembers()
    names = {member.name.removeprefix("package/") for member in members}
    library = npm_package.LIBRARY
    modules = {file.relative_to(library).as_posix() for file in (library / "src").rglob("*.js")}
    types = {name.replace(".js", ".d.ts") for name in modules}
    assert "src/index.js" in modules
    declared = {f"src/{entry}.d.ts" for entry in npm_package.ENTRIES}
    assert declared <= names & types
    assert names - types == modules | {"package.json", "README.md", "LICENSE"}
    assert sum(member.size for member in members) <= 300_000


@hard
def test_publint_and_attw_find_nothing(tools: Path, tarball: Path) -> None:
    node = need_command("node")
    linted = run(
        node, tools / "publint" / "src" / "cli.js", "--strict", tarball, cwd=tarball.parent
    )
    assert linted.returncode == 0 and "All good" in linted.stdout, linted.stdout
    attw = tools / "@arethetypeswrong" / "cli" / "dist" / "index.js"
    # The package has no CommonJS, which is what this profile says.
    checked = run(
        node, attw, "--profile", "esm-only", "--format", "json", tarball, cwd=tarball.parent
    )
    problems = json.loads(checked.stdout)["analysis"]["problems"]
    assert {problem["kind"] for problem in problems} <= {"CJSResolvesToESM"}, problems
    assert checked.returncode == 0


def joined(blocks: list[Block], language: str) -> str:
    return "\n".join(block.text for block in blocks if block.language == language)


def tsc(project: Path, *words: str) -> None:
    compiler = project / "node_modules" / "typescript" / "bin" / "tsc"
    options = ["--strict", "--noEmit", "--target", "es2022"]
    lib = ["--lib", "es2022,dom,dom.iterable,dom.asynciterable", "--skipDefaultLibCheck"]
    done = run(need_command("node"), compiler, *options, *lib, *words, cwd=project)
    assert done.returncode == 0, done.stdout


# As node resolves packages; trying harder, also as bundlers do.
@hard
@pytest.mark.parametrize("module", ["nodenext", pytest.param("preserve", marks=hard)])
def test_right_programs_in_typescript_compile_and_wrong_ones_do_not(
    project: Path, module: str
) -> None:
    """What must be accepted is, with the types that it says; what must be refused is refused."""
    # The declarations of others take four times as long to check as the programs do.
    words = ("--module", module, "--types", "node", "--skipLibCheck")
    (project / "from-docs.mts").write_text(FOR_SNIPPET + joined(BLOCKS, "ts"), "utf8")
    for number, block in enumerate(block for block in README if block.language == "ts"):
        (project / f"from-readme-{number}.mts").write_text(block.text, "utf8")
    for name, blocks in (("from-docs.tsx", BLOCKS), ("from-readme.tsx", README)):
        (project / name).write_text(joined(blocks, "tsx"), "utf8")
    programs = sorted(
        file.name for kind in ("*.ts", "*.tsx", "*.mts") for file in project.glob(kind)
    )
    assert len(programs) == 10, programs
    tsc(project, *words, "--jsx", "react-jsx", *programs)


@hard
def test_our_declarations_are_right_by_themselves(project: Path) -> None:
    (project / "all.ts").write_text(
        'export * from "jsonrill";'
        'export * as react from "jsonrill/react"; export * as receive from "jsonrill/receive";'
    )
    tsc(project, "--module", "nodenext", "all.ts")


@pytest.mark.parametrize("name", ["react", "frameworks"])
def test_components_for_react_vue_and_svelte_render_what_grows(project: Path, name: str) -> None:
    for kind, file in (("Vue", "from-docs.vue.mjs"), ("Svelte", "from-docs.svelte")):
        reason = f"js/tests/test_npm.py runs it with {kind}"
        [shown] = [block.text for block in BLOCKS if block.skip == reason]
        (project / file).write_text(shown, "utf8")
    esbuild = project / "node_modules" / "esbuild" / "bin" / "esbuild"
    (project / "from-docs.tsx").write_text(joined(BLOCKS, "tsx"), "utf8")
    out = "--outfile=from-docs.react.mjs"
    assert run(esbuild, "from-docs.tsx", "--jsx=automatic", out, cwd=project).returncode == 0
    words = ("--conditions=browser", "--test", "--test-reporter=spec", f"{name}.test.mjs")
    done = run(need_command("node"), *words, cwd=project)
    assert done.returncode == 0, f"\n{done.stdout}{done.stderr}"
    assert "tests 0" not in done.stdout


def test_zod_valibot_and_arktype_judge_the_last_value(project: Path) -> None:
    """What zod, valibot and arktype make of the complete value is the last value."""
    done = run(need_command("node"), "schemas.mjs", cwd=project)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert set(seen) == {"zod", "valibot", "arktype"}
    for good, bad in seen.values():
        assert good == {"title": "Tea", "minutes": "5", "tags": ["hot"]}
        assert bad == ["INVALID_SCHEMA", "root.tags[1]"]


def test_it_is_small_and_the_page_says_how_small(project: Path) -> None:
    sizes = npm_sizes.measured(project)
    limits = npm_sizes.MAX_SIZES
    assert all(sizes[names] <= limits[names] for names in limits), sizes
    page = (ROOT / "docs" / "javascript.md").read_text("utf8")
    shown, table = npm_sizes.ROW.findall(page), npm_sizes.rows(sizes).splitlines(keepends=True)
    for documented, row in zip(shown, table, strict=True):
        figures = [float(re.findall(r"([0-9.]+) kB", text)[0]) for text in (documented, row)]
        assert abs(figures[0] - figures[1]) <= figures[1] / 20, "run tools/npm_sizes.py"
        assert documented.split("|")[1] == row.split("|")[1]

"""The types of the library for browsers and of the page; `make check` runs it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from support import ROOT, need_command
from support.npm import TOOLS, installed

LIBRARY, PAGE = ROOT / "js" / "src", ROOT / "page"
CHECKS = {
    **dict.fromkeys(("allowJs", "checkJs", "strict", "noEmit", "noUnusedLocals"), True),
    **dict.fromkeys(("noImplicitReturns", "noFallthroughCasesInSwitch"), True),
    "target": "es2022",
    "module": "nodenext",
    "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable"],
    "types": [],
}


def test_types_are_right_and_a_wrong_one_is_noticed(tmp_path: Path) -> None:
    modules = installed(TOOLS, "npm") / "node_modules"
    files = sorted((*LIBRARY.rglob("*.js"), *PAGE.glob("*.js")))
    assert files
    wrong = tmp_path / "wrong.js"
    use = "new Rebuilder().feed();\n/** @type {number} */\nconst n = 'x';\nn;"
    module = os.path.relpath(LIBRARY / "index.js", tmp_path)
    wrong.write_text(f"import {{ Rebuilder }} from {module!r};\n{use}")
    # The library has no packages; the one that its hooks import is among the tools.
    options = {
        **CHECKS,
        "paths": {"react": [os.fspath(modules / "@types" / "react" / "index.d.ts")]},
    }
    config = {"compilerOptions": options, "files": [*map(os.fspath, (*files, wrong))]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))
    compiler = modules / "typescript" / "bin" / "tsc"
    command: list[str | Path] = [need_command("node"), compiler, "--project", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf8")
    errors = [line for line in done.stdout.splitlines() if "error TS" in line]
    assert all("wrong.js" in line for line in errors), done.stdout
    for code in ("TS2322", "TS2554"):
        assert code in done.stdout, done.stdout

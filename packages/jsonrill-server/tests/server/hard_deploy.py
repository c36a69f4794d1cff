"""The Dockerfile's commands, without Docker, make a server that runs."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from pathlib import Path

import httpx2

from support import ROOT
from support.processes import free_port

TOKEN = "0123456789abcdef"


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    split = [line.partition(" ") for line in lines]
    return [(word, rest.strip()) for word, _, rest in split]


def one(word: str) -> str:
    (argument,) = [rest for name, rest in instructions() if name == word]
    return argument


def copy_installed(folder: Path) -> None:
    """What is installed here, but for jsonrill itself, instead of a package index."""
    folder.mkdir()
    for place in {sysconfig.get_path("purelib"), *site.getsitepackages()}:
        for entry in Path(place).iterdir():
            if "jsonrill" not in entry.name and not (folder / entry.name).exists():
                (folder / entry.name).symlink_to(entry)


def test_the_commands_of_the_dockerfile_make_a_server_that_runs(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    copy_installed(installed)
    context = [line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line[0] == "!"]
    here = tmp_path
    environ = {**os.environ, "PYTHONPATH": str(installed), "JSONRILL_PURE": "1"}
    for word, rest in instructions():
        if word == "WORKDIR":
            here = tmp_path / rest.lstrip("/")
            here.mkdir(parents=True)
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            for source in sources:
                assert source in context, "the build cannot see this file"
                whole = here / target / source if target.endswith("/") else here / target
                if (ROOT / source).is_dir():
                    skipped = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", "tests")
                    shutil.copytree(ROOT / source, whole, symlinks=True, ignore=skipped)
                    for built in whole.glob("*/build"):
                        shutil.rmtree(built)
                else:
                    shutil.copy(ROOT / source, whole)
        elif word == "RUN":
            command = rest.replace("/opt/", f"{tmp_path}/opt/")
            command = command.replace("python -m venv", f"{sys.executable} -m venv --without-pip")
            command = command.replace(" install ", " install -q --no-index --no-build-isolation ")
            done = subprocess.run(
                command, shell=True, cwd=here, env=environ, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
    run(tmp_path, environ)


def run(tmp_path: Path, environ: dict[str, str]) -> None:
    """Start it as the image does, and ask as the image's health check does."""
    port = str(free_port())
    path = f"{tmp_path}/opt/jsonrill/bin"
    assert f"{path}:".replace(str(tmp_path), "") in one("ENV")
    environ = {
        **environ,
        "PATH": f"{path}:{environ['PATH']}",
        "JSONRILL_PORT": port,
        "JSONRILL_TOKENS": f"me:{TOKEN}",
    }
    command = [*json.loads(one("ENTRYPOINT")), *json.loads(one("CMD"))]
    with subprocess.Popen(
        [shutil.which(command[0], path=path) or "", *command[1:]],
        env=environ,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == f"jsonrill listens on http://0.0.0.0:{port}\n"
            check = json.loads(one("HEALTHCHECK").partition("CMD ")[2])
            subprocess.run([f"{path}/{check[0]}", *check[1:]], env=environ, check=True, timeout=20)
            url = f"http://127.0.0.1:{port}/v1/streams"
            assert httpx2.post(url, trust_env=False).status_code == 401
        finally:
            process.terminate()

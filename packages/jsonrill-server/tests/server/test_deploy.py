"""The files in deploy/: what they say exists; `hard_deploy.py` runs the Dockerfile's commands."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from jsonrill_server import Config
from support import ROOT

DEPLOY = ROOT / "deploy"


def settings_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"(JSONRILL_\w+)[:=] *\"?([^\"\n ]+)", text))


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml"])
def test_settings_in_deploy_exist(name: str) -> None:
    settings = settings_of((DEPLOY / name).read_text())
    assert settings
    Config.from_environment(settings)


def test_the_compose_file_is_complete() -> None:
    yaml: Any = pytest.importorskip("yaml")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    replicas = compose["services"]["jsonrill"]
    assert replicas["ports"] == ["127.0.0.1:8377-8379:8377"]
    assert replicas["deploy"]["replicas"] == 3
    assert (DEPLOY / replicas["build"]["context"] / replicas["build"]["dockerfile"]).exists()
    config = Config.from_environment(replicas["environment"])
    assert float(replicas["stop_grace_period"][:-1]) > config.drain + config.grace
    command = shlex.split(compose["services"]["redis"]["command"])
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"

"""The files in deploy/: what they say exists; `hard_deploy.py` runs the Dockerfile's commands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jsonrill_server import Config
from support import ROOT

DEPLOY = ROOT / "deploy"


def settings_of(text: str) -> dict[str, str]:
    return dict(re.findall(r"(JSONRILL_\w+)[:=] *\"?([^\"\n ]+)", text))


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "jsonrill.service"])
def test_settings_in_deploy_exist(name: str) -> None:
    settings = settings_of((DEPLOY / name).read_text())
    assert settings
    Config.from_environment(settings)


def test_the_compose_file_is_complete() -> None:
    yaml: Any = pytest.importorskip("yaml")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    replicas = compose["services"]["jsonrill"]
    assert replicas["deploy"]["replicas"] == 3
    assert (DEPLOY / replicas["build"]["context"] / replicas["build"]["dockerfile"]).exists()
    (mount,) = compose["services"]["nginx"]["volumes"]
    assert (DEPLOY / mount.partition(":")[0]).exists()
    config = Config.from_environment(replicas["environment"])
    assert float(replicas["stop_grace_period"][:-1]) > config.drain + config.grace
    command = shlex.split(compose["services"]["redis"]["command"])
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_the_proxy_waits_longer_than_a_heartbeat() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    (wait,) = re.findall(r"proxy_read_timeout (\d+)s;", text)
    assert int(wait) > max(Config().heartbeat, Config().upstream_first)
    assert "proxy_buffering off;" in text and "proxy_request_buffering off;" in text
    (size,) = re.findall(r"client_max_body_size (\d+)m;", text)
    assert int(size) << 20 >= Config().body_bytes
    assert text.count("{") == text.count("}")


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze here")
    unit = tmp_path / "jsonrill.service"
    text = (DEPLOY / "jsonrill.service").read_text()
    unit.write_text(text.replace("/opt/jsonrill/bin/jsonrill", "/bin/true"))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, timeout=30)
    complaints = [line for line in done.stderr.splitlines() if "jsonrill.service" in line]
    assert not complaints

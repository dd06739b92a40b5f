"""The files under ``deploy/``: systemd takes the unit, and every command of the container file is one that works."""

from __future__ import annotations

import inspect
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pdqs.cli.commands import market, serve
from pdqs.market.configuration import settings_from

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
ANALYSE = shutil.which("systemd-analyze")


def _verified(folder: Path, unit: str) -> str:
    """What systemd has to say of a unit whose program is one that is there."""
    assert ANALYSE is not None
    path = folder / "pdqs-market.service"
    path.write_text(unit.replace("/opt/pdqs/bin/pdqs", sys.executable), encoding="utf-8")
    done = subprocess.run([ANALYSE, "verify", "--man=no", str(path)], capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if "pdqs-market" in line)


@pytest.mark.skipif(ANALYSE is None, reason="no systemd on this machine (apt-get install systemd)")
def test_systemd_takes_the_unit_and_would_have_noticed_a_slip(tmp_path: Path) -> None:
    unit = (DEPLOY / "pdqs-market.service").read_text(encoding="utf-8")
    assert _verified(tmp_path, unit) == ""
    assert "PrivateTemp" in _verified(tmp_path, unit.replace("PrivateTmp", "PrivateTemp"))


def _instructions() -> list[tuple[str, str]]:
    """The container file as instructions and what they say, lines that go on joined."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


KNOWN = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "VOLUME", "ENV", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "CMD"}


def test_the_container_file_has_instructions_that_there_are_and_copies_what_is_there() -> None:
    found = _instructions()
    assert {word for word, _ in found} <= KNOWN
    assert [word for word, _ in found].count("FROM") == 2
    users = [rest for word, rest in found if word == "USER"]
    assert users == ["pdqs"], "it does not run as root"
    copied = next(rest for word, rest in found if word == "COPY").split()
    assert copied == ["requirements.hashed.lock", "dist/*.whl", "/build/"]
    assert (ROOT / "requirements.hashed.lock").is_file()
    assert "sha256:" in (ROOT / "requirements.hashed.lock").read_text(encoding="utf-8"), "--require-hashes needs them"


def test_the_commands_of_the_container_file_are_commands_of_pdqs() -> None:
    """What starts it and what is said to make the first code are taken, and its setting is one that there is."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    started = next(rest for word, rest in _instructions() if word == "CMD")
    assert re.findall(r'"([^"]+)"', started) == ["pdqs", "serve", "--no-link"]
    assert "link" in inspect.signature(serve.run).parameters
    assert "podman exec -it NAME pdqs market operator" in text
    assert callable(market.operator)
    check = next(rest for word, rest in _instructions() if word == "HEALTHCHECK")
    compile(re.findall(r'"([^"]*)"', check)[-1], "healthcheck", "exec")
    assert "/healthz" in check


def test_the_settings_beside_them_are_settings() -> None:
    path = DEPLOY / "market.toml"
    settings = settings_from({}, file=str(path))
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    assert {name: getattr(settings, name) for name in told} == told
    unit = (DEPLOY / "pdqs-market.service").read_text(encoding="utf-8")
    assert shlex.split(unit.split("ExecStart=")[1].splitlines()[0]) == ["/opt/pdqs/bin/pdqs", "serve", "--no-link"]

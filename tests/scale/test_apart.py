"""A cluster on a network of its own (``playing_apart.py``), in a process and a namespace where nobody else is.

A bridge that comes and goes in the machine's own network makes every browser on it drop what it is loading, those of
the tests beside this one included. It needs root: elsewhere the test is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ALONE = ["unshare", "--net"]
BRIDGES = "pq"
"""How the names of its bridge and links begin."""
PLAY = Path(__file__).with_name("playing_apart.py")


def needs_a_network_of_its_own() -> None:
    """Skip where there can be none."""
    if os.geteuid() or shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("network namespaces need root and the commands ip and unshare")
    if subprocess.run([*ALONE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces can be made here")


@contextmanager
def changes_of_the_network(file: Path) -> Iterator[None]:
    """Write to a file whatever changes in the network that everyone else on the machine sees."""
    with file.open("w") as told:
        watching = subprocess.Popen(["ip", "monitor", "link", "address"], stdout=told)
        try:
            yield
        finally:
            watching.terminate()
            watching.wait()


def test_a_cluster_outlives_a_worker_cut_off_from_it_and_the_machine_sees_no_network_change(tmp_path: Path) -> None:
    needs_a_network_of_its_own()
    command = [*ALONE, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", str(PLAY)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    with changes_of_the_network(tmp_path / "changes"):
        played = subprocess.run(
            [*command, "--basetemp", str(tmp_path / "there")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "1 passed" in played.stdout
    assert BRIDGES not in (tmp_path / "changes").read_text()


def test_a_bridge_in_the_network_of_everyone_would_be_seen(tmp_path: Path) -> None:
    """The control, in a namespace too: what is watched there is the network that the bridge is put into."""
    needs_a_network_of_its_own()
    script = f"ip monitor link > {tmp_path}/changes & sleep 1; ip link add {BRIDGES}b type bridge; sleep 1; kill $!"
    subprocess.run([*ALONE, "sh", "-c", script], check=True, timeout=60)
    assert BRIDGES in (tmp_path / "changes").read_text()

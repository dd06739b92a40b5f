"""A newcomer, scripted: the wheel alone, a fresh environment for each extra, the tutorial as its built page shows it.

In each environment every command is asked for its help; a command whose extra is missing must say so in one sentence.
Where the command line is installed, the tutorial's files are saved and its commands typed, copied out of the HTML; then
come malformed inputs. Nothing may end in a traceback.

Run it: make newcomer EXTRAS="cli owner"
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from cli.test_malformed import REFUSED, lay_out

from .pages import ROOT, Saved, Typed

WITH_COMMANDS = {"cli", "all"}
"""Extras that hold what the tutorial needs."""


@dataclass
class Page(HTMLParser):
    """The blocks of a built page, in order: what kind each is, its caption and its text."""

    blocks: list[tuple[str, str, str]] = field(default_factory=list)
    kind: str = ""
    caption: str = ""
    inside: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = (dict(attrs).get("class") or "").split()
        if tag == "div":
            self.kind = next((name[10:] for name in classes if name.startswith("highlight-")), self.kind)
        if tag == "pre" or (tag == "span" and "caption-text" in classes):
            self.inside, self.text = tag, ""

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""

    def handle_endtag(self, tag: str) -> None:
        if tag != self.inside:
            return
        if tag == "pre":
            self.blocks.append((self.kind, self.caption, self.text))
            self.caption, self.inside = "", ""
        elif tag == "span" and not self.caption:
            self.caption, self.inside = self.text, ""


def steps_of(html: str) -> Iterator[Saved | Typed]:
    """What a reader of the built page saves and types, in order."""
    page = Page()
    page.feed(html)
    for kind, caption, text in page.blocks:
        if kind == "console":
            for part in ("\n" + text).split("\n$ ")[1:]:
                yield Typed(part.partition("\n")[0], part.partition("\n")[2])
        elif kind == "python" and caption:
            yield Saved(caption, text)


@dataclass(frozen=True)
class Place:
    """A fresh environment and an empty folder."""

    extra: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"

    def make(self, wheel: Path) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "desk").mkdir(parents=True)
        venv.create(self.folder / "env", with_pip=True)
        what = f"{wheel}[{self.extra}]" if self.extra != "none" else str(wheel)
        lock = ["--constraint", str(ROOT / "requirements.lock")]
        install = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *lock, what]
        subprocess.run(install, check=True, capture_output=True)

    def type(self, command: str) -> tuple[int, str]:
        """Type a command at the desk; its code and all that it printed."""
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR", "SYSTEMROOT") if name in os.environ}
        environment = {**kept, "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "Agg"}
        done = subprocess.run(
            command,
            shell=True,
            cwd=self.folder / "desk",
            env=environment,
            capture_output=True,
            timeout=600,
            check=False,
        )
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def faults_of_help(place: Place) -> Iterator[str]:
    """Every command helps, or says in one sentence what to install."""
    code, listed = place.type("pdqs --help")
    words = [line.split()[0] for line in listed.partition("Commands:")[2].splitlines() if line.startswith("  ")]
    if code or len(words) < 10:
        yield f"pdqs --help ended with {code}: {listed}"
    for command in ["pdqs --version", "python -m pdqs --version", *(f"pdqs {word} --help" for word in words[:-1])]:
        code, printed = place.type(command)
        said = printed.startswith("pdqs: ") and "pip install" in printed and printed.count("\n") == 1
        if "Traceback" in printed or not (code == 0 or (code == 2 and said)):
            yield f"{command} ended with {code}: {printed}"


def faults_of_tutorial(place: Place, steps: list[Saved | Typed]) -> Iterator[str]:
    """The tutorial, as it is printed on its page."""
    for step in steps:
        if isinstance(step, Saved):
            (place.folder / "desk" / step.name).write_text(step.text, encoding="utf-8")
            continue
        code, printed = place.type(step.command)
        if "Traceback" in printed or code != ("BROKEN" in printed):
            yield f"{step.command} ended with {code}: {printed}"


def faults_of_bad_input(place: Place) -> Iterator[str]:
    """Malformed input ends with one sentence and the code 2, never with a traceback."""
    lay_out(place.folder / "desk")
    for words, _ in REFUSED.values():
        command = shlex.join(["pdqs", *words])
        code, printed = place.type(command)
        if code != 2 or "Traceback" in printed or not printed.splitlines()[-1].startswith("pdqs: "):
            yield f"{command} ended with {code}: {printed}"


def main() -> int:
    """One line for each extra; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True, help="the folder with the wheel")
    parser.add_argument("--page", type=Path, required=True, help="the built tutorial")
    parser.add_argument("--extras", nargs="+", required=True)
    chosen = parser.parse_args()
    wheel = next(chosen.wheel.resolve().glob("*.whl"))
    steps = list(steps_of(chosen.page.read_text(encoding="utf-8")))
    assert sum(isinstance(step, Typed) for step in steps) >= 7, "the page shows fewer commands than the tutorial has"
    wrong = 0
    for extra in chosen.extras:
        started = time.monotonic()
        place = Place(extra, ROOT / "build" / "newcomer" / extra)
        place.make(wheel)
        faults = list(faults_of_help(place))
        if extra in WITH_COMMANDS:
            faults += [*faults_of_tutorial(place, steps), *faults_of_bad_input(place)]
        tried = f"tutorial, {len(REFUSED)} malformed inputs" if extra in WITH_COMMANDS else "help of every command"
        print(f"{extra:8} {tried}: {len(faults)} faults in {time.monotonic() - started:.0f} s", flush=True)
        for fault in faults:
            print(f"  {fault}")
        wrong += len(faults)
        shutil.rmtree(place.folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

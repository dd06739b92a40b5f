"""The package as a whole: its names, its weight, and the words it must not contain."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pdqs

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "pdqs").rglob("*.py"))


def test_the_public_names_are_the_contract() -> None:
    flow = ["Terms", "clear", "Offers", "randomise", "Reports", "answer", "Answer", "settle", "Payments", "trade"]
    queries = ["Count", "Median", "Quantile", "Mean", "Histogram", "Domain"]
    for name in [*flow, *queries, "plan", "audit", "presets", "rules"]:
        assert hasattr(pdqs, name), name
    for preset in ("gpqm_linear", "gpqm_exponential", "gpqm_logarithmic", "npqm", "fairquery", "sound"):
        assert callable(getattr(pdqs.presets, preset))
    assert sorted(pdqs.__all__) == list(pdqs.__all__)


def test_the_version_is_written_in_one_place() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        described = tomllib.load(file)
    assert "version" in described["project"]["dynamic"]
    assert described["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "pdqs.__version__"}
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == pdqs.__version__, "the newest entry of CHANGELOG.md is of another version"
    written = [path.name for path in SOURCES if f'"{pdqs.__version__}"' in path.read_text()]
    assert written == ["__init__.py"]


def modules_after(statement: str) -> set[str]:
    code = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(found.stdout))


def test_importing_pdqs_loads_nothing_heavy() -> None:
    heavy = {"jax", "matplotlib", "fastapi", "typer", "rich", "pyarrow", "dask", "sqlalchemy", "pandas", "polars"}
    loaded = modules_after("import pdqs")
    assert not heavy & loaded
    assert not {"scipy.optimize", "scipy.special", "scipy.stats"} & loaded  # slow to load, wanted by few


def test_importing_pdqs_or_asking_for_help_does_not_even_load_numpy() -> None:
    assert "numpy" not in modules_after("import pdqs")
    assert "numpy" not in modules_after(
        "import os, sys\nsys.stdout = open(os.devnull, 'w')\nimport pdqs.cli\n"
        "pdqs.cli.main(['--help'])\nsys.stdout = sys.__stdout__"
    )
    assert "numpy" in modules_after("import pdqs\npdqs.Terms"), "the probe sees what is loaded"


def test_every_public_name_is_found_and_is_listed() -> None:
    for name in pdqs.__all__:
        assert getattr(pdqs, name) is not None
        assert name in dir(pdqs)
    assert not hasattr(pdqs, "sell")


def test_trade_is_the_function_even_after_its_module_was_imported() -> None:
    code = "import pdqs.trade, pdqs\nassert pdqs.trade.__name__ == 'trade' and callable(pdqs.trade)\n"
    code += "from pdqs.trade import Trade\nassert pdqs.Trade is Trade"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_asking_for_help_loads_nothing_heavy() -> None:
    loaded = modules_after(
        "import pdqs.cli, contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()): pdqs.cli.main(['--help'])"
    )
    assert not {"jax", "matplotlib", "fastapi", "pyarrow", "scipy.optimize"} & loaded


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    if not path.read_text().strip():
        return
    assert ast.get_docstring(ast.parse(path.read_text())), "a module without a docstring"


def test_no_file_names_a_registry_or_a_path_of_someones_machine() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the list of files is not known")
    hosts = ["py" + "pi.org", "pythonhosted" + ".org", "registry.npm" + "js.org", "deb.debian" + ".org"]
    paths = re.compile(r"(?<![\w.])/(?:" + "|".join(["root", "work", "home/[a-z]+"]) + r")/")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in {".png", ".parquet", ".npz", ".safetensors", ".pdf"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not any(host in text for host in hosts), name
        assert not paths.search(text), name

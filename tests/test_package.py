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


def test_the_hashed_lock_has_every_package_of_a_server_at_the_pinned_version_and_no_address() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from hashed_lock import needed  # type: ignore[import-not-found]  # a script beside the package
    finally:
        sys.path.pop(0)
    text = (ROOT / "requirements.hashed.lock").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    form = re.compile(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}")
    found = {match[1]: match[2] for match in map(form.fullmatch, lines) if match}
    assert len(found) == len(lines), "every line is a package, a version and a hash"
    pinned = {
        tuple(line.split(";")[0].split("==")) for line in (ROOT / "requirements.lock").read_text().split("\n") if line
    }
    assert set(found.items()) <= {(name, v.strip()) for name, v in pinned}
    assert set(needed("pdqs", frozenset({"cli", "owner", "market"}))) <= set(found)
    assert "://" not in text


def test_the_bill_of_materials_lists_what_a_server_needs_and_is_the_same_each_time() -> None:
    asked = [sys.executable, str(ROOT / "tools" / "sbom.py"), "market"]
    first, second = (subprocess.run(asked, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    bill = json.loads(first)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    names = {part["name"] for part in bill["components"]}
    assert {"fastapi", "uvicorn", "starlette", "sqlalchemy", "numpy"} <= names
    assert "pytest" not in names
    assert all(part["purl"] == f"pkg:pypi/{part['name']}@{part['version']}" for part in bill["components"])

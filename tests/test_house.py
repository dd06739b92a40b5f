"""The shape of the house: small functions and modules, imports that run one way, nothing reached for behind a wall."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "src"
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted(HOUSE.rglob("*.py"))}
TREES = {path: ast.parse(text) for path, text in SOURCES.items()}

LONGEST_FUNCTION = 60
MEDIAN_FUNCTION = 8
LONGEST_MODULE = 350
LINES_WITH_ANY = 100

Function = ast.FunctionDef | ast.AsyncFunctionDef


def said(path: Path) -> str:
    return str(path.relative_to(HOUSE))


def dotted(path: Path) -> str:
    """A module's name: pdqs.model for pdqs/model/__init__.py."""
    return ".".join(path.relative_to(HOUSE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {dotted(path): tree for path, tree in TREES.items()}
LENGTHS = {
    (said(path), node.name, node.lineno): (node.end_lineno or node.lineno) - node.lineno + 1
    for path, tree in TREES.items()
    for node in ast.walk(tree)
    if isinstance(node, Function)
}


def test_every_function_fits_a_screen() -> None:
    assert not {name: lines for name, lines in LENGTHS.items() if lines > LONGEST_FUNCTION}


def test_the_median_function_is_short() -> None:
    assert statistics.median(LENGTHS.values()) <= MEDIAN_FUNCTION


def test_every_module_can_be_read_in_one_sitting() -> None:
    assert not {said(path): lines for path, text in SOURCES.items() if (lines := text.count("\n")) > LONGEST_MODULE}


def test_any_is_rare() -> None:
    found = {said(path): len(re.findall(r"(?m)^.*\bAny\b.*$", text)) for path, text in SOURCES.items()}
    most = sorted(found.items(), key=lambda item: -item[1])[:12]
    assert sum(found.values()) < LINES_WITH_ANY, f"most in {most}"


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What a module names in its imports, as (module, name); the name is empty for a plain ``import module``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_nothing_is_imported_by_wildcard() -> None:
    assert not [said(path) for path, tree in TREES.items() if "*" in {name for _, name in imports(tree)}]


def as_it_runs(tree: ast.Module) -> ast.Module:
    """The module without what stands under ``if TYPE_CHECKING``: that is for the reader and the type checker."""
    kept = [node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))]
    return ast.Module(body=kept, type_ignores=[])


def leans_on(tree: ast.Module) -> set[str]:
    """The modules of the house that a module imports when it runs, wherever the import stands."""
    named = ((module, f"{module}.{name}") for module, name in imports(as_it_runs(tree)))
    return {inner if inner in MODULES else module for module, inner in named} & MODULES.keys()


def circle(edges: dict[str, set[str]]) -> list[str]:
    """One circle of imports, or nothing: modules that lean on nothing left are taken away until none can be."""
    left = {module: set(on) - {module} for module, on in edges.items()}
    while free := {module for module, on in left.items() if not on & left.keys()}:
        left = {module: on for module, on in left.items() if module not in free}
    if not left:
        return []
    walk = [min(left)]
    while walk.count(walk[-1]) == 1:
        walk.append(min(left[walk[-1]] & left.keys()))
    return walk[walk.index(walk[-1]) :]


def test_no_import_runs_in_a_circle() -> None:
    assert circle({module: leans_on(tree) for module, tree in MODULES.items()}) == []


def test_a_circle_of_imports_would_be_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["b", "c", "b"]
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def names_its_own(tree: ast.Module, stem: str) -> bool:
    return any(isinstance(node, Function) and node.name == stem for node in tree.body)


def test_no_function_shares_its_modules_name() -> None:
    assert {said(path) for path, tree in TREES.items() if names_its_own(tree, path.stem)} == {"pdqs/trade.py"}


def hidden(tree: ast.Module, package: str) -> set[str]:
    """Names that a package binds over its own modules of the same name."""
    taken = {name for module, name in imports(tree) if module != package}
    own = {node.name for node in tree.body if isinstance(node, Function)}
    return {name for name in taken | own if f"{package}.{name}" in MODULES}


def test_no_package_hides_one_of_its_modules() -> None:
    found = {name: hidden(tree, name) for name, tree in MODULES.items()}
    assert {name: names for name, names in found.items() if names} == {"pdqs": {"trade"}}


# Documented names of the standard library that begin with an underscore all the same.
OPEN_TO_ALL = {"_exit", "_fields", "_replace", "_asdict", "_make", "_value_"}


def private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in {"_", *OPEN_TO_ALL}


def reaches_behind(tree: ast.Module) -> list[str]:
    """Private names of other objects and modules that a module uses."""
    attributes = [
        f"{ast.unparse(node.value)}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and private(node.attr) and ast.unparse(node.value) not in {"self", "cls"}
    ]
    named = [f"{module}.{name}" for module, name in imports(tree) if private(name)]
    return attributes + named + [module for module, _ in imports(tree) if any(map(private, module.split(".")))]


def test_nothing_private_is_reached_for() -> None:
    assert not {said(path): found for path, tree in TREES.items() if (found := reaches_behind(tree))}


def test_reaching_behind_a_wall_would_be_found() -> None:
    faulty = ast.parse("import a._b\nother._secret\nself._own\nfrom c import _d\nos._exit(1)")
    assert reaches_behind(faulty) == ["other._secret", "c._d", "a._b"]


TOLD = [path for room in ("docs", "examples") for path in sorted((ROOT / room).rglob("*"))]
SHOWN = [*sorted(ROOT.glob("*.md")), *(path for path in TOLD if path.suffix in {".py", ".md"})]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_and_examples_name_what_there_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not set(re.findall(r"^[>.\s]*(?:from|import) (pdqs[\w.]*)", text, re.MULTILINE)) - MODULES.keys()
    files = re.findall(r"`((?:src/)?pdqs/[\w/.]+)`", text)
    assert not [file for file in files if not (HOUSE / file.removeprefix("src/")).exists()]


def test_twenty_ideas_are_where_the_map_says() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|`]+) \| `(src/[^`]+)` \| `(\w+)` \|$", text, re.MULTILINE)
    assert len({idea for idea, _, _ in rows}) == 20
    for idea, file, name in rows:
        assert re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")), f"{idea}: no {name} in {file}"


def test_the_map_shows_every_room() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (HOUSE / "pdqs").glob("*/__init__.py")}
    assert not {room for room in rooms if f"`{room}/" not in text}

"""Who may import whom: the order of the code, in one table, held by reading the imports.

Every module stands in exactly one row. It may import what stands before it in its own row, and anything of the rows
that its row names. A package stands for all its modules, which may import each other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "proxy"

ORDER = {
    "leaves": ((), "errors controls settings wire headers wording language stopwatch background prompts quantities"),
    "services": (("leaves",), "nli.scoring services"),
    # In the order in which a request goes through them; what corrects is two files.
    "stages": (
        ("leaves", "services"),
        "claims recall context matching verdict proofreading correction reassembly report",
    ),
    # What the stages never see: the network, the model's runtime, the server.
    "machinery": (("leaves", "services"), "nli connection pool upstream llm retrieval credentials asgi sse"),
    "story": (("leaves", "services", "stages", "machinery"), "work pipeline streaming"),
    "serving": (
        ("leaves", "services", "stages", "machinery", "story"),
        "terminal deployment openapi routes app embedded server inspection calibration demo __main__",
    ),
}

TOOLS = {
    # Reading text is the same for a draft, a recall and a reply.
    "plain_text",
    "split_sentences",
    "drop_reasoning",
    "is_closed",
    # A new sentence is split as a draft is (contract, section 7).
    "split_claims",
    # Short questions about an earlier stage's own types.
    "is_contradicted",
    "first_flag",
    "worst_status",
}
"""The functions, beside types and constants, that a stage may take from an earlier one."""

LIBRARIES = {
    "openai": "llm demo",  # the demo is a client
    "httpx2": "llm pool upstream retrieval",
    "httptools": "connection",
    "onnxruntime": "nli.onnx",
    "tokenizers": "nli.encoding",
    "pydantic_settings": "settings",
    "litestar": "asgi openapi routes app",
    "uvicorn": "server",
    "matplotlib": "calibration.curve",
    "xllamacpp": "embedded.__main__",
}
"""Which modules know a library."""

IMPLEMENTATIONS = {"OpenAiModels", "Upstream", "OnnxNli", "load_onnx_nli", "CascadeNli", "Retrieval"}
"""What only `app` builds; everybody else is handed it."""

ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv"}


@dataclass(frozen=True)
class Import:
    """One imported name; `module` is within the package without its prefix, or a whole library."""

    module: str
    name: str
    own: bool


@cache
def read_modules() -> dict[str, ast.Module]:
    """Return the parsed modules of the package by their name within it; the package's own file is left out."""
    files = {".".join(file.relative_to(PACKAGE).with_suffix("").parts): file for file in PACKAGE.rglob("*.py")}
    return {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in files.items() if name != "__init__"}


@cache
def read_imports(name: str) -> list[Import]:
    """Return what a module imports, inside functions too."""
    return list(_walk_imports(name))


def _walk_imports(name: str) -> Iterator[Import]:
    for node in ast.walk(read_modules()[name]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield resolve(alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are written out in full"
            for alias in node.names:
                yield resolve(node.module or "", alias.name)


def resolve(module: str, name: str) -> Import:
    """Return the import of a name, which may itself be a module."""
    package, _, within = module.partition(".")
    if package != PACKAGE.name:
        return Import(package, name, own=False)
    inner = f"{within}.{name}".strip(".")
    return Import(inner, "", own=True) if inner in read_modules() else Import(within, name, own=True)


def place(module: str) -> tuple[str, str]:
    """Return a module's row and entry; the longest entry that names it or its package."""
    fitting = [
        (entry, row)
        for row, (_, entries) in ORDER.items()
        for entry in entries.split()
        if module == entry or module.startswith(f"{entry}.")
    ]
    assert fitting, f"{module} has no place in the order; give it one"
    entry, row = max(fitting, key=lambda pair: len(pair[0]))
    return row, entry


def is_type(name: str) -> bool:
    """Return whether a name is a type or a constant rather than a function."""
    return name.lstrip("_")[:1].isupper()


@pytest.mark.parametrize("module", sorted(read_modules()))
def test_order(module: str) -> None:
    """A module imports only what stands before it."""
    row, entry = place(module)
    allowed, entries = ORDER[row]
    before = entries.split()[: entries.split().index(entry) + 1]
    for imported in read_imports(module):
        if imported.own and imported.module:
            other_row, other = place(imported.module)
            assert other_row in allowed or (other_row == row and other in before), f"{module} -> {imported.module}"


@pytest.mark.parametrize("module", [name for name in sorted(read_modules()) if place(name)[0] == "stages"])
def test_stages_take_types(module: str) -> None:
    """A stage takes from earlier ones their types, and of their functions only the tools in the table."""
    _, entry = place(module)
    taken = [
        imported.name
        for imported in read_imports(module)
        if imported.own and place(imported.module)[0] == "stages" and place(imported.module)[1] != entry
    ]
    # What corrects is one stage in two files.
    of_correction = {"find_quotations", "is_quotation", "touches_quotation"} if entry == "correction" else set()
    assert [name for name in taken if not is_type(name) and name not in TOOLS | of_correction] == []


def test_only_the_pipeline_imports_all_stages() -> None:
    """One file tells the whole story; every other knows only its own part of it."""
    stages = set(ORDER["stages"][1].split()) - {"proofreading"}
    all_of_them = [
        module
        for module in read_modules()
        if stages
        <= {place(imported.module)[1] for imported in read_imports(module) if imported.own and imported.module}
    ]
    assert all_of_them == ["pipeline"]


@pytest.mark.parametrize(("library", "modules"), LIBRARIES.items())
def test_library_stays_behind_its_module(library: str, modules: str) -> None:
    """A library is known to few modules, so that it can be exchanged there."""
    users = {module for module in read_modules() for one in read_imports(module) if one.module == library}
    assert users <= set(modules.split())


def test_only_app_builds_implementations() -> None:
    """The services are built in one place and handed on; their own files aside, nobody else calls what builds them."""
    builders = {
        module
        for module, tree in read_modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPLEMENTATIONS
    }
    assert builders - {"nli.onnx"} <= {"app"}


def reads_environment(tree: ast.Module) -> bool:
    """Return whether a module reads the environment; setting a variable for a library is no reading."""
    written = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT and node not in written)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and {a.name for a in node.names} & ENVIRONMENT)
        for node in ast.walk(tree)
    )


def test_only_settings_reads_the_environment() -> None:
    """What the operator sets comes in through one door."""
    assert {module for module, tree in read_modules().items() if reads_environment(tree)} == {"settings"}


def test_product_does_not_know_its_tests() -> None:
    """Nothing of the product imports tests, evaluation or scripts."""
    outside = {"tests", "fakes", "conftest", "evaluation", "scripts", "pytest", "hypothesis"}
    assert {one.module for module in read_modules() for one in read_imports(module)} & outside == set()


def test_evaluation_knows_no_tests() -> None:
    """What measures imports the product and its own modules, never tests or scripts."""
    files = (PACKAGE.parent / "evaluation").rglob("*.py")
    imported = {
        name.partition(".")[0]
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert imported & {"tests", "fakes", "conftest", "scripts", "pytest", "hypothesis"} == set()


def test_every_entry_exists() -> None:
    """The table names no module that is gone, save what a later issue adds."""
    modules = read_modules()
    entries = {entry for _, entries in ORDER.values() for entry in entries.split()}
    gone = {entry for entry in entries if not any(name == entry or name.startswith(f"{entry}.") for name in modules)}
    assert gone <= {"demo"}

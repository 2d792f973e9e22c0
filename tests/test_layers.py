"""Nothing imports what stands to its right in the way data goes."""

import ast
from pathlib import Path

import karat

ROOT = Path(karat.__file__).parent

# From left to right; a module may import from its own layer and from those before it.
LAYERS = [
    [
        *("inert", "errors", "registry", "interrupts", "isolation", "libraries", "limits", "record"),
        *("options", "protocol", "corpus", "engines", "vocabulary", "tabular", "citations"),
    ],
    ["formats", "text"],
    ["matching", "embed", "similarity", "stats"],
    ["metrics", "results", "llm"],
    ["models", "pairs"],
    ["analyses", "spark"],
    ["output", "annotation"],
    ["cli", "__main__"],
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def layer_of(module: str) -> str:
    return module.split(".")[1]


def imports_of(path: Path) -> set[str]:
    """The karat modules that a file imports, at the top or inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            if node.module == "karat":
                found |= {f"karat.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("karat.") and layer_of(name) in RANK}


def modules() -> list[tuple[str, Path]]:
    files = [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]
    return [(".".join(["karat", *path.relative_to(ROOT).with_suffix("").parts]), path) for path in files]


def test_every_module_is_in_a_layer() -> None:
    assert {layer_of(name) for name, _ in modules()} == set(RANK)


def test_no_module_imports_from_its_right() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, path in modules()
        for imported in imports_of(path)
        if RANK[layer_of(imported)] > RANK[layer_of(name)]
    ]
    assert wrong == []


def test_only_the_command_prints() -> None:
    for name, path in modules():
        if layer_of(name) in ("cli", "interrupts"):
            continue
        calls = [
            node.func.id
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert "print" not in calls, name


def test_no_module_but_protocol_knows_a_preset_by_name() -> None:
    from karat.protocol import PRESETS

    scripts = set(PRESETS) - {"karat"}
    for name, path in modules():
        if layer_of(name) == "protocol" or name == "karat.cli.demo":  # the demo names what it shows
            continue
        strings = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not strings & scripts, name

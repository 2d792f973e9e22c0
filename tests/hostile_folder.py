"""A folder of modules that bear the names of libraries, each of which leaves a mark when it is imported."""

from __future__ import annotations

from pathlib import Path

MARK = "imported"
NAMES = (
    *("sitecustomize", "usercustomize", "karat", "json", "re", "pickle", "signal", "multiprocessing", "concurrent"),
    *("numpy", "msgspec", "click", "pyarrow", "pyspark", "py4j", "plugged"),
)


def write_hostile_modules(folder: Path) -> None:
    """Write a module for each of the names."""
    for name in NAMES:
        code = f"with open({str(folder / MARK)!r}, 'a') as file:\n    file.write(f'{{__name__}}\\n')\n"
        (folder / f"{name}.py").write_text(code)


def imported_modules(folder: Path) -> list[str]:
    """Return the names of the modules that were imported."""
    mark = folder / MARK
    return mark.read_text().split() if mark.exists() else []

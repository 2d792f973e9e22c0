"""What the result of every verb is: rows, tables, notes, and how it shows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from karat.errors import counted
from karat.libraries import library
from karat.record import recording


class Result(Protocol):
    """The result of any verb: notes for its reader, and the whole as plain values."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    def as_dict(self) -> dict[str, Any]:
        """The whole JSON output."""


@runtime_checkable
class Saveable(Result, Protocol):
    """A result that can also be saved to a `.karat` file."""

    def save(self, path: str | Path) -> None:
        """Writes the file."""


def _recorded(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that writes files, under the record of the files that its result was made of."""

    @wraps(method)
    def save(self: Displayed, *given: Any, **options: Any) -> Any:
        with recording(getattr(self, "files_read", None)):
            return method(self, *given, **options)

    return save


class Displayed:
    """A result that shows itself: as its tables where it is printed, as HTML or Markdown in a notebook.

    Results stand left of `karat.output` and know nothing of it. The package has `render` among its lazy names, and
    since it stands outside the layers, `render` is taken from it when a result is shown.
    """

    __slots__ = ("files_read",)  # the record of the call that made the result, so that `save` replaces no input
    csv_fields: ClassVar[tuple[str, ...]] = ()  # of the CSV output; all fields of flat_rows() where it is empty

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in list(vars(cls).items()):
            if name.startswith("save") and callable(method) and not hasattr(method, "__wrapped__"):
                setattr(cls, name, _recorded(method))

    def rows(self) -> list[dict[str, Any]]:
        """One dict a row of the result, as in the JSON output."""
        found: Any = self
        return list(found.as_dict().get("rows", ()))

    def flat_rows(self) -> list[dict[str, Any]]:
        """The rows of the CSV output: dicts of plain values alone."""
        return [dict(flat_values(row)) for row in self.rows()]

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return library("pandas", "to_pandas()").DataFrame(self.rows())

    def __repr__(self) -> str:
        rows = self.rows()
        facts = []
        for what, names in (("corpus", ("corpus",)), ("systems", ("system", "a", "b"))):
            found = dict.fromkeys(repr(row[name]) for row in rows for name in names if row.get(name))
            facts += [f"{what} {', '.join(found)}"] if found else []
        return f"<{type(self).__name__}: {'; '.join([*facts, counted(len(rows), 'row')])}>"

    def __str__(self: Result) -> str:
        return rendered(self, "table").removesuffix("\n")

    def _repr_html_(self: Result) -> str:
        return rendered(self, "html")

    def _repr_markdown_(self: Result) -> str:
        return rendered(self, "md")

    # For IPython, whose plain text of an object would be its one line.
    def _repr_mimebundle_(self: Result, include: Any = None, exclude: Any = None) -> dict[str, str]:
        forms = {"text/html": "html", "text/markdown": "md"}
        return {"text/plain": str(self)} | {mime: rendered(self, format) for mime, format in forms.items()}


def flat_values(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a row, each plain: dicts as k=v,... or, of other than plain values, as columns of their own."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            if any(isinstance(each, list | Mapping) for each in value.values()):
                yield from flat_values({f"{name}_{key}": each for key, each in value.items()})
            else:
                yield name, ",".join(f"{key}={each}" for key, each in value.items())
        else:
            yield name, ";".join(map(str, value)) if isinstance(value, list | tuple) else value


def rendered(found: Any, format: str) -> str:
    """A result as text, by the package's lazy `render`."""
    import karat

    return karat.render(found, format)

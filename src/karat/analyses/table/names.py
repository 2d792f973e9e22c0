"""What systems and corpora are called in a table, and how they are ordered and grouped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from karat.analyses.compare.families import Family
from karat.analyses.table.options import GroupsLike, NamesLike, TableOptions
from karat.analyses.table.result import Names
from karat.errors import InputError, unknown


def names_of(families: Sequence[Family], options: TableOptions) -> Names:
    """What systems and corpora are called and how they are ordered. Raises InputError if a name is of none."""
    systems = list(dict.fromkeys(name for family in families for name in family.systems))
    corpora = list(dict.fromkeys(family.corpus for family in families))
    first = list(_ordered(options.order, systems, corpora))
    groups = _groups(options.groups, systems)
    grouped = {name for members in groups.values() for name in members}
    if grouped:
        rest = tuple(name for name in systems if name not in grouped)
        groups = {**({"": rest} if rest else {}), **groups}
    listed = [name for members in (groups or {"": tuple(systems)}).values() for name in members]
    return Names(
        _called("system", options.systems, _first(first, listed)),
        _called("corpus", options.corpora, _first(first, corpora)),
        {name: tuple(_first(first, members)) for name, members in (groups or {"": tuple(systems)}).items()},
    )


def _first(first: Sequence[str], names: Iterable[str]) -> list[str]:
    """The names, those that come first before the others."""
    listed = list(names)
    return [*(name for name in first if name in listed), *(name for name in listed if name not in first)]


def _ordered(given: str | Sequence[str], systems: Sequence[str], corpora: Sequence[str]) -> Iterator[str]:
    known = [*systems, *corpora]
    for text in [given] if isinstance(given, str) else given:
        for name in [text] if text in known else text.split(","):
            if name not in known:
                raise unknown("system or corpus", name, known)
            yield name


def _groups(given: GroupsLike, systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    listed = given.items() if isinstance(given, Mapping) else (_split(text, "NAME=SYSTEM,...") for text in given)
    found: dict[str, tuple[str, ...]] = {}
    for name, members in listed:
        own = members.split(",") if isinstance(members, str) else members
        for system in own:
            if system not in systems:
                raise unknown(f"system of the group {name}", system, systems)
            if any(system in others for others in found.values()) or list(own).count(system) > 1:
                raise InputError(f"{system} stands in two groups; a system has one place")
        found[name] = (*found.get(name, ()), *own)
    return found


def _called(what: str, given: NamesLike, names: Sequence[str]) -> dict[str, str]:
    """What each of some names is called. Raises InputError if two are called alike."""
    listed = by_name(what, given, f"{what.upper()}=NAME", names)
    found = {name: listed.get(name, name) for name in names}
    for name, called in found.items():
        same = [other for other in found if found[other] == called]
        if len(same) > 1:
            raise InputError(f"{' and '.join(same)} are both called {called!r}; give {name} another name")
    return found


def by_name(what: str, given: NamesLike, form: str, names: Sequence[str]) -> dict[str, str]:
    """What is said of some of the names. Raises InputError if a name is none of these."""
    found = dict(given.items() if isinstance(given, Mapping) else (_split(text, form) for text in given))
    for name in found:
        if name not in names:
            raise unknown(what, name, names)
    return found


def _split(text: str, form: str) -> tuple[str, str]:
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        raise InputError(f"{text}: write {form}")
    return name, rest

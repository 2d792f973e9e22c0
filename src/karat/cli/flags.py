"""The flags of the command, derived from the options of the library's functions.

A verb of the command names the function of `karat` that it calls; its flags are the fields of that function's class of
options. The function is imported when the flags are needed, so that `karat --help` loads nothing of the library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field
from functools import partial
from typing import Any, TypeVar

import click

import karat
from karat.cli import completion
from karat.errors import InputError
from karat.options import About, about, option_fields
from karat.registry import Registry

F = TypeVar("F", bound=Callable[..., Any])

AUTO = "auto"
AUTO_BYTES = 8_000_000  # files that are larger together are worth several processes


class Verb(click.Command):
    """A command with the flags of a function of the library, before those that it has itself."""

    twin: str  # the function's name in `karat`
    derived: bool = False

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The arguments and all flags."""
        if not self.derived:
            arguments = [each for each in self.params if isinstance(each, click.Argument)]
            own = {each.name: each for each in self.params if not isinstance(each, click.Argument)}
            flags = [each for each in flags_of(getattr(karat, self.twin).options) if each.name not in own]
            self.params = [*arguments, *flags, *own.values()]
            self.derived = True
        return super().get_params(ctx)


def verbs() -> Registry[click.Command]:
    """The verbs of a group, none so far; a name that is taken is an error."""
    return Registry("verb", lambda command: command.callback or "a command")


def verb(
    twin: str, name: str | None = None, epilog: str | None = None, cls: type[Verb] = Verb
) -> Callable[[Callable[..., Any]], Verb]:
    """Decorates a function that calls `karat.TWIN`: it becomes a command with the flags of that."""

    def decorate(function: Callable[..., Any]) -> Verb:
        command = click.command(name, cls=cls, epilog=epilog)(function)
        command.twin = twin
        return command

    return decorate


def flags(kind: type[Any]) -> Callable[[F], F]:
    """Decorates the function of a command: it has the flags of a class of options, too."""

    def decorate(function: F) -> F:
        added = list(flags_of(kind))
        known: list[click.Parameter] = getattr(function, "__click_params__", [])
        function.__click_params__ = [*known, *reversed(added)]  # type: ignore[attr-defined]  # the last one is shown first
        return function

    return decorate


def flag_of(context: click.Context, name: str) -> str:
    """How the flag of an option is written, the longest way."""
    [parameter] = [each for each in context.command.get_params(context) if each.name == name]
    return max(parameter.opts, key=len)


def flags_of(kind: type[Any]) -> Iterator[click.Option]:
    """The flags of a class of options."""
    for each in option_fields(kind):
        if about(each).command:
            yield _flag(each)


def _flag(each: Field[Any]) -> click.Option:
    known = about(each)
    flags = known.flags or (f"--{each.name.replace('_', '-')}",)
    help, several = _help(each, known), known.repeatable or known.once
    if _type_name(each) == "bool":
        return _switch(each, flags, help)
    if each.name == "jobs":
        return click.Option([each.name, *flags], callback=_jobs, default=AUTO, metavar=known.metavar, help=help)
    default = {} if several or each.default in (MISSING, None) else {"default": each.default}
    return click.Option(
        [each.name, *flags],
        type=_type(each, known),
        **default,
        required=each.default is MISSING,
        multiple=several,
        callback=partial(_given, each) if several else None,
        metavar=known.metavar,
        help=help,
        shell_complete=getattr(completion, known.complete) if known.complete else None,
    )


def _switch(each: Field[Any], flags: tuple[str, ...], help: str) -> click.Option:
    """The flag of something that is done or not; --no-NAME alone, where it is done unless that is given."""
    if flags[0].startswith("--no-"):
        return click.Option([each.name, *flags], is_flag=True, default=False, callback=_negated, help=help)
    names = [each.name, *flags] if each.default is not True else [each.name, f"{flags[0]}/--no-{flags[0][2:]}"]
    return click.Option(names, is_flag=True, default=each.default, help=help)


def _negated(_context: click.Context, _parameter: click.Parameter, value: bool) -> bool:
    return not value


def _given(each: Field[Any], _context: click.Context, parameter: click.Parameter, values: tuple[Any, ...]) -> Any:
    """What a flag gives that may be written several times: its values, or the default where it is not written."""
    if not about(each).once:
        return values or each.default
    if len(values) > 1:
        raise InputError(f"{parameter.opts[-1]} names one, not {len(values)}: {', '.join(values)}")
    return values[0] if values else each.default


def _type_name(each: Field[Any]) -> str:
    """The name of the type of one value, as `int` of `int | None` and `str` of `tuple[str, ...]`."""
    return re.sub(r"^(?:tuple|Sequence)\[(\w+).*", r"\1", str(each.type).partition(" | ")[0])


class Whole(click.IntRange):
    """A whole number, which messages call so."""

    name = "whole number"


def _type(each: Field[Any], known: About) -> click.ParamType[Any]:
    if known.values:
        return click.Choice(list(known.values))
    name = _type_name(each)
    if name == "int" and (known.least, known.most) != (None, None):
        return Whole(known.least, known.most)  # type: ignore[arg-type]
    if name == "float" and None not in (known.least, known.most):
        return click.FloatRange(known.least, known.most)
    return click.INT if name == "int" else click.FLOAT if name == "float" else click.STRING


def _help(each: Field[Any], known: About) -> str:
    """The help of a flag: after its first sentence stands whether it is repeatable, and the default."""
    notes = ["repeatable"] if known.repeatable else []
    default = written_default(each)
    notes += [f"default{':' if ' ' in default else ''} {default}"] if default else []
    if not notes:
        return known.help
    first, end, rest = re.fullmatch(r"(.*?)(\.(?= [A-Z])|\.$)(.*)", known.help, re.S).groups()  # type: ignore[union-attr]
    return f"{first} ({'; '.join(notes)}){end}{rest}"


def written_default(each: Field[Any]) -> str:
    """The default of an option as the help of the command writes it; "" where there is nothing to write."""
    known = about(each)
    if known.otherwise is not None:
        return known.otherwise
    if each.name == "jobs":
        return f"{AUTO}, all cores where the files have more than {AUTO_BYTES // 1_000_000} MB"
    if each.default is None or isinstance(each.default, bool) or each.default in (MISSING, ()):
        return ""
    return f"{each.default:.10g}" if isinstance(each.default, float) else str(each.default)


# ---------------------------------------------------------------------------------------------- -j


def _jobs(context: click.Context, parameter: click.Parameter, value: Any) -> int | str:
    """The number of processes that -j says; `auto` stays."""
    if value == AUTO:
        return AUTO
    try:
        return capped_jobs(Whole(1).convert(value, parameter, context))
    except click.BadParameter as error:
        message = f"{error.message.rstrip('.')}; write a number or {AUTO}."
        raise click.BadParameter(message, context, parameter) from None


def capped_jobs(jobs: int) -> int:
    """As many processes as -j says; where they are more than four for each core, as many as that, with a note."""
    from karat.matching.workers import capped

    most = capped(jobs)
    if most < jobs:
        click.echo(f"note: -j {jobs:,} is more than four processes for each core; {most} are used", err=True)
    return most


def jobs_for(jobs: int | str, size: int) -> int:
    """How many processes `jobs` stands for where files of so many bytes are read: `auto` is all cores for large ones.

    >>> jobs_for(3, 10**9), jobs_for("auto", 1000)
    (3, 1)
    """
    if isinstance(jobs, int):
        return jobs
    from karat.matching.workers import cores

    return 1 if size <= AUTO_BYTES else cores()

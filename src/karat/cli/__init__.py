"""The command `karat`: one small module a verb; this one starts it and turns failures into sentences."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules
from typing import NoReturn

import click

from karat import __version__, interrupts
from karat.cli.flags import verbs
from karat.cli.inputs import files_first
from karat.cli.shared import say
from karat.errors import KaratError, unknown
from karat.inert import one_line
from karat.limits import parse_limits, set_limits

OUR_FAULT, WRONG_INPUT = 70, 2


class _Verbs(click.Group):
    """The command, which knows a file where a verb should stand."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb of a command line. Raises UsageError if there is none of this name."""
        if args and self.get_command(ctx, args[0]) is None and os.path.exists(args[0]):
            raise click.UsageError(f"{args[0]!r} is a file, and a verb comes first, as karat score {args[0]} RUN", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="Start with `karat demo`; `karat VERB --help` shows examples of each verb.",
    commands=verbs(),
)
@click.version_option(__version__, "-V", "--version", message="karat %(version)s")
def karat() -> None:
    """How good are your keyphrases?

    Scores keyphrase systems under every published convention, by name.
    """


def _find_verbs() -> None:
    """Makes every command of every module here a verb, but for those that a module has put into a group."""
    modules = [import_module(f"{__name__}.{each.name}") for each in iter_modules(__path__)]
    found = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, click.Command) and getattr(each.callback, "__module__", "") == module.__name__
    ]
    for each in _leaves(found):
        each.params += [_limit_flag(), _engine_flag()]
        each.callback = files_first(each.callback) if each.callback is not None else None
    inner = {id(each) for group in found if isinstance(group, click.Group) for each in group.commands.values()}
    for each in found:
        if id(each) not in inner:
            karat.add_command(each)


WITHOUT_FILES = ("list", "demo")


def _leaves(commands: Iterable[click.Command]) -> Iterator[click.Command]:
    """The commands that read files, once each, however they are grouped."""
    for each in {id(each): each for each in commands}.values():
        if not isinstance(each, click.Group) and each.name not in WITHOUT_FILES:
            yield each


def _limit_flag() -> click.Option:
    """--limit, which every command that reads files has."""
    return click.Option(
        ["--limit"],
        multiple=True,
        expose_value=False,
        metavar="NAME=SIZE",
        callback=lambda _context, _parameter, given: set_limits(parse_limits(given)) if given else None,
        help="Raise or lower a limit of what is read, as line=128MB; see `karat list limits` (repeatable).",
    )


def _engine_flag() -> click.Option:
    """--engine, which every command that reads files has."""
    return click.Option(
        ["--engine"],
        expose_value=False,
        metavar="spark[:MASTER]",
        callback=_start_engine,
        help="Run passes and predictions on Apache Spark, as spark, spark:local[4] or spark:spark://HOST:7077.",
    )


def _start_engine(context: click.Context, _parameter: click.Parameter, given: str | None) -> None:
    """Puts an engine in force until the command ends."""
    if given is None or context.resilient_parsing:
        return
    name, _, master = given.partition(":")
    if name != "spark":
        raise unknown("engine", name, ["spark"])
    from karat.spark import engine

    context.with_resource(engine(master or None))


_find_verbs()


def main() -> NoReturn:
    """Runs the command and ends the process.

    Its code is 0 when all is done, 1 when a gate failed, 2 for wrong input, 70 for our fault, 130 or 143 for a signal.
    """
    interrupts.catch()
    code = _run()
    interrupts.ignore()
    sys.exit(code)


def _run() -> int:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads would only wait beside our processes
    out = sys.stdout
    try:
        code = karat.main(standalone_mode=False, prog_name="karat")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        interrupts.leave()
    except click.UsageError as error:
        _nearest(error)
        return _show(error)
    except (click.ClickException, KaratError) as error:
        if interrupts.received():  # a worker, say, that got the signal as well
            interrupts.leave()
        return _say(str(error), WRONG_INPUT)
    except SystemExit:  # click's way out when the reader of our output went away; it wraps the output then
        if sys.stdout is out:
            raise
        return 0
    except BrokenPipeError:
        _drop_output()  # nothing is left to say to a reader that went away
        return 0
    except OSError as error:
        with suppress(OSError):
            sys.stdout.flush()  # what was written before, where it can be
        _drop_output()
        closed = error.errno == errno.EBADF and error.filename is None
        return _say("standard output is closed" if closed else str(error), WRONG_INPUT)
    except Exception as error:
        if interrupts.received():
            interrupts.leave()
        if os.environ.get("KARAT_DEBUG"):
            raise
        return _say(f"internal error: {error!r}; please report it (KARAT_DEBUG=1 shows where)", OUR_FAULT)


def _nearest(error: click.UsageError) -> None:
    """Of the names that click suggests in place of one that does not exist, leaves the nearest."""
    possible = list(getattr(error, "possibilities", None) or ())
    given = getattr(error, "option_name", None) or getattr(error, "command_name", None)
    if possible and given:
        error.possibilities = get_close_matches(given, possible, n=1, cutoff=0)  # type: ignore[attr-defined]


def _drop_output() -> None:
    """Points standard output to nowhere: Python would write what is left at its end, and fail again."""
    with suppress(OSError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, code: int) -> int:
    say(f"karat: {message}")
    return code


def _show(error: click.UsageError) -> int:
    """Shows how the command is used, and what is wrong with the arguments that it quotes."""
    if type(error).show is click.UsageError.show:
        error = click.UsageError(one_line(error.format_message()), error.ctx)
    error.show()  # the other kind shows the help of a group
    return WRONG_INPUT

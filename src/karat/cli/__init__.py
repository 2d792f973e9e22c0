"""The command `karat`: one small module a verb; this one starts it and turns failures into sentences."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import NoReturn

import click

from karat import __version__, interrupts
from karat.cli.flags import verbs
from karat.errors import KaratError

OUR_FAULT, WRONG_INPUT = 70, 2


@click.group(
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
    inner = {id(each) for group in found if isinstance(group, click.Group) for each in group.commands.values()}
    for each in found:
        if id(each) not in inner:
            karat.add_command(each)


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
        error.show()
        return WRONG_INPUT
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
        return _say(str(error), WRONG_INPUT)
    except Exception as error:
        if interrupts.received():
            interrupts.leave()
        if os.environ.get("KARAT_DEBUG"):
            raise
        return _say(f"internal error: {error!r}; please report it (KARAT_DEBUG=1 shows where)", OUR_FAULT)


def _drop_output() -> None:
    """Points standard output to nowhere: Python would write what is left at its end, and fail again."""
    with suppress(OSError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, code: int) -> int:
    click.echo(f"karat: {message}", err=True)
    return code

"""The command. Signals are caught before anything large is imported, so that none of them ends in a traceback."""

import os
import sys

from karat import interrupts, isolation


def main() -> None:
    """Run `karat` and end the process."""
    isolation.secure_path()
    interrupts.catch()
    _occupy_closed_streams()
    try:
        from karat.cli import main as command

        command()
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.received() or isinstance(error, KeyboardInterrupt):
            interrupts.leave()
        raise


def _occupy_closed_streams() -> None:
    """Opens standard streams that are closed: a file that is opened later would take their place.

    What goes to standard error is lost then; writing to standard output is an error, as it is for other commands.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115


if __name__ == "__main__":
    main()

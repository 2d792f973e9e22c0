"""The command. Signals are caught before anything large is imported, so that none of them ends in a traceback."""

from karat import interrupts


def main() -> None:
    """Runs `karat` and ends the process."""
    interrupts.catch()
    try:
        from karat.cli import main as command

        command()
    except (Exception, KeyboardInterrupt) as error:
        if interrupts.received() or isinstance(error, KeyboardInterrupt):
            interrupts.leave()
        raise


if __name__ == "__main__":
    main()

"""Commands that are run in their order, some at a time, and not again once they have succeeded."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

POLLED = 0.2  # seconds between two looks at what is running


@dataclass(frozen=True, slots=True)
class Step:
    """A command of karat, and the steps whose output it reads."""

    name: str
    arguments: tuple[str, ...]
    after: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join(("karat", *self.arguments))


class StepError(Exception):
    """A step did not succeed; the message says which, and where its output is."""


class Runner:
    """Runs steps; `folder` keeps what each one printed, and the command of each that succeeded.

    A step is done when its command is the one that is kept there, so a changed command is run again.
    """

    def __init__(self, folder: Path, jobs: int) -> None:
        self.folder, self.jobs, self.interrupted = folder, jobs, False
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

    def run(self, steps: Iterable[Step]) -> None:
        """Runs all that are not done, each when those before it are.

        Raises StepError at the first that does not end well, and KeyboardInterrupt after a signal; either way, what was
        running has ended by then.
        """
        waiting = {step.name: step for step in steps if not self._is_done(step)}
        running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
        begun: dict[str, Step] = {}
        before = {number: signal.signal(number, self._interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            while True:
                if self.interrupted:
                    raise KeyboardInterrupt
                if not (waiting or running):
                    return
                for step in list(waiting.values()):
                    if len(running) < self.jobs and not any(each in waiting or each in running for each in step.after):
                        begun[step.name] = waiting.pop(step.name)
                        running[step.name] = (self._start(step), time.monotonic())
                time.sleep(POLLED)
                for name, (process, start) in list(running.items()):
                    if process.poll() is not None and not self.interrupted:
                        del running[name]
                        self._ended(begun[name], process.returncode, time.monotonic() - start, len(waiting))
        finally:
            for process, _ in running.values():
                process.terminate()
            for process, _ in running.values():
                process.wait()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """Notes a signal: raised here, it could fall between the start of a process and its entry among the running."""
        self.interrupted = True

    def _is_done(self, step: Step) -> bool:
        mark = self.folder / f"{step.name}.done"
        return mark.is_file() and mark.read_text(encoding="utf-8") == step.shown

    def _start(self, step: Step) -> subprocess.Popen[bytes]:
        print(f"$ {step.shown}", flush=True)
        with (self.folder / f"{step.name}.log").open("wb") as log:
            command = [sys.executable, "-m", "karat", *step.arguments]
            return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=self.environment)

    def _ended(self, step: Step, code: int, seconds: float, left: int) -> None:
        log = self.folder / f"{step.name}.log"
        if code != 0:
            printed = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
            raise StepError(f"{step.name} ended with {code} ({log}):\n" + "\n".join(printed))
        new = self.folder / f"{step.name}.done.new"
        new.write_text(step.shown, encoding="utf-8")
        new.replace(self.folder / f"{step.name}.done")
        print(f"  {step.name}: {seconds:.0f} s; {left} steps wait", flush=True)

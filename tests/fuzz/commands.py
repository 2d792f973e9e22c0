"""Commands in processes of their own, and what they leave behind."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from karat.cli import main
from tests.fuzz import judge
from tests.fuzz.case import Case
from tests.fuzz.judge import Fault

GROUPS = ("corpus", "pairs", "results", "run")  # of verbs
SECONDS, WAITING = 10.0, 40.0  # of the processor, and by the clock, that a case may take


@dataclass(frozen=True, slots=True)
class Ended:
    """What is left of a command."""

    code: int
    out: bytes
    err: bytes
    peak: int  # bytes
    trace: str = ""  # where it was when it lasted too long


peaks: list[int] = []  # of commands that were run in this process


def run(case: Case, folder: Path) -> Fault | None:
    """The fault of a command; None where it did its work or said in a sentence why not."""
    before = _outputs(case, folder)
    if case.streams:
        return _real(case, folder)
    ended = _forked(case.arguments, folder)
    peaks.append(ended.peak)
    if ended.trace:
        return Fault(f"hang [{judge.innermost(ended.trace)}]", ended.trace)
    verb = " ".join(case.arguments[:2]) if case.arguments[0] in GROUPS else case.arguments[0]
    fault = judge.of_command(ended.code, ended.out, ended.err, verb)
    if ended.code == 70:
        again = _forked(case.arguments, folder, KARAT_DEBUG="1")
        shown = again.err.decode(errors="backslashreplace")
        if "Traceback" in shown:
            return Fault(f"internal error: {judge.of_traceback(shown)}", shown[-6000:])
    return fault or _half_written(case, folder, before, ended, verb)


def _outputs(case: Case, folder: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for name in case.outputs:
        with suppress(OSError, ValueError):
            found[name] = (folder / name).read_bytes() if (folder / name).is_file() else None
    return found


def _half_written(case: Case, folder: Path, before: dict[str, bytes | None], ended: Ended, verb: str) -> Fault | None:
    """A fault where a command that failed has left something in the place of its output, or beside it."""
    left = [str(path.relative_to(folder)) for path in folder.rglob(".*.karat-*")]
    if left:
        return Fault(f"left behind: {verb}", f"{left}\n{ended.err.decode(errors='replace')}")
    if ended.code == 2:
        for name, content in _outputs(case, folder).items():
            if content != before.get(name):
                return Fault(f"written although it failed: {verb}", f"{name}\n{ended.err.decode(errors='replace')}")
    return None


def _forked(arguments: tuple[str, ...], folder: Path, **environment: str) -> Ended:
    """Runs the command in a child of this process."""
    beside = folder.with_name(f"{folder.name}-streams")
    beside.mkdir(exist_ok=True)
    names = [beside / name for name in ("out", "err", "trace")]
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            _child(arguments, folder, names, environment)
        finally:
            os._exit(71)
    status, used, hung = _waited(child)
    out, err, trace = (path.read_bytes() if path.exists() else b"" for path in names)
    for path in (*names, beside):
        with suppress(OSError):
            path.rmdir() if path == beside else path.unlink()
    where = (trace.decode(errors="replace") or "nowhere") if hung else ""
    return Ended(os.waitstatus_to_exitcode(status), out, err, used.ru_maxrss * 1024, where)


def _child(arguments: tuple[str, ...], folder: Path, names: list[Path], environment: Mapping[str, str]) -> None:
    traces = names[2].open("w")
    faulthandler.register(signal.SIGUSR1, traces, all_threads=False)
    with open(os.devnull, "rb") as nothing, names[0].open("wb") as out, names[1].open("wb") as err:
        for number, file in enumerate((nothing, out, err)):
            os.dup2(file.fileno(), number)
    os.environ |= environment
    os.chdir(folder)
    sys.argv = ["karat", *arguments]
    code: object = 70
    try:
        main()
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def too_long(process: int, start: float, used: float = 0.0) -> bool:
    """Whether a process has taken more time than a case may: of the processor, or by the clock where it just waits."""
    return time.monotonic() - start > WAITING or processor_time(process) - used > SECONDS


def processor_time(process: int) -> float:
    """The seconds that a running process has computed."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _waited(child: int) -> tuple[int, resource.struct_rusage, bool]:
    """(status, what was used, whether it had to be ended) of a child."""
    start, hung = time.monotonic(), False
    pause = 0.001
    while True:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # whatever it may have started
            return status, used, hung
        if not hung and too_long(child, start):
            hung = True
            os.kill(child, signal.SIGUSR1)
            time.sleep(0.2)
            os.killpg(child, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)


SHELL = {
    "stdout closed": 'exec "$@" >&-',
    "stderr closed": 'exec "$@" 2>&-',
    "stdin closed": 'exec "$@" <&-',
    "all closed": 'exec "$@" <&- >&- 2>&-',
    "broken pipe": '{ "$@"; echo "code $?" >&2; } | :',
    "full disk": 'exec "$@" >/dev/full',
}


def _real(case: Case, folder: Path) -> Fault | None:
    """The fault of a command that a shell starts, with standard streams that are closed, full or gone."""
    words = ["sh", "-c", SHELL[case.streams], "sh", sys.executable, "-m", "karat", *case.arguments]
    try:
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAITING)
    except subprocess.TimeoutExpired as error:
        return Fault(f"hang: {case.streams}", repr(error))
    said = done.stderr.decode(errors="backslashreplace")
    code = done.returncode
    if case.streams == "broken pipe":
        code = int(said.rpartition("code ")[2] or 0)
    wrong = code not in (0, 1, 2) or "Traceback" in said or "Exception ignored" in said or "lost sys.stderr" in said
    return (
        Fault(f"{case.streams}: {judge.of_traceback(said) if said.strip() else f'exit code {code}'}", f"{code}\n{said}")
        if wrong
        else None
    )

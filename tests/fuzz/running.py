"""Cases in forked workers: each in a folder of its own, with limits of memory and time.

A worker runs many cases, one after the other. Memory is limited by RLIMIT_DATA, which counts the private memory that a
process may write to: not the libraries that are mapped, nor the address space that allocators only reserve, as
RLIMIT_AS would. What a process has already when it begins is added. The peak of each case is the kernel's own (VmHWM),
which is set back before it. Time is watched by the parent, who can end a worker that never comes back from C; it is the
time of the processor, since other work may have the machine, and that of the clock where a case just waits.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from karat.limits import Limits, set_limits
from tests.fuzz import commands, judge, options, readers, verbs
from tests.fuzz.case import Case, kept, put, remove
from tests.fuzz.judge import Fault

MEMORY = 1 << 30  # bytes that a case may take
BLOCK = 100  # cases of a worker, then the next one is forked

KEPT = "kept"  # the part of the cases that failed once
PARTS: dict[str, Callable[[Random], Case]] = {
    "readers": readers.make,
    "options": options.make,
    "verbs": verbs.make,
    "report": verbs.make_report,
}


def make(part: str, seed: int, number: int) -> Case:
    """The case of a number: the same in every process and at every time."""
    if part == KEPT:
        return list(kept().values())[number]
    return PARTS[part](Random(f"{part} {seed} {number}"))


def run(case: Case, folder: Path) -> Fault | None:
    """The fault of a case, None where there is none; the folder is made and removed."""
    put(folder, case.files)
    before = Path.cwd()
    os.chdir(folder)
    try:
        if case.do == "run":
            return commands.run(case, folder)
        if case.do == "read":
            path = case.path.replace("{}", str(folder))
            readers.READERS[case.name].read(path, dict(case.options))
        else:
            options.PARSERS[case.name](case.text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return judge.of_exception(error, str(folder))
    finally:
        os.chdir(before)
        set_limits(Limits())
        remove(folder)
    return None


# ---------------------------------------------------------------------------------------------- limits


def limit_memory(more: int = MEMORY) -> None:
    """Makes what goes beyond so many more bytes a MemoryError in this process."""
    data = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
    most = int(data.split()[1]) * 1024 + more
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def reset_peak() -> None:
    """Makes the kernel forget the peak of this process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """The most bytes that this process had since its peak was reset."""
    high = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(high.split()[1]) * 1024


# ---------------------------------------------------------------------------------------------- workers


@dataclass(frozen=True, slots=True)
class Found:
    """A case that failed."""

    part: str
    number: int
    fault: Fault


@dataclass(slots=True)
class Tally:
    """What came of some cases."""

    cases: int = 0
    peak: int = 0
    hangs: int = 0
    found: list[Found] = field(default_factory=list)


@dataclass(slots=True)
class _Worker:
    """A forked process, what it is at, and what it says."""

    pid: int
    pipe: int
    numbers: range
    now: mmap.mmap  # (number of the case, when it was begun, how much the process had computed then)
    trace: Path
    said: bytes = b""

    def at(self) -> int:
        """The number of its case."""
        return int(struct.unpack_from("q", self.now)[0])

    def since(self) -> tuple[float, float]:
        """When the case was begun: by the clock, and in seconds of the process."""
        _, start, used = struct.unpack_from("qdd", self.now)
        return float(start), float(used)


class Fleet:
    """Workers on the cases of a part."""

    def __init__(self, part: str, seed: int, jobs: int, tally: Tally) -> None:
        self.part, self.seed, self.jobs, self.tally = part, seed, jobs, tally
        self.folder = Path(tempfile.mkdtemp(prefix="karat-fuzz-"))
        self.workers: list[_Worker] = []

    def run(self, numbers: range, deadline: float) -> None:
        """Nothing; the tally has what came of the cases. No new block is begun after the deadline."""
        blocks = [numbers[at : at + BLOCK] for at in range(0, len(numbers), BLOCK)][::-1]
        try:
            while blocks or self.workers:
                while blocks and len(self.workers) < self.jobs and time.monotonic() < deadline:
                    self.workers.append(self._fork(blocks.pop()))
                if not self.workers:
                    return
                rest = self._listen()
                blocks.extend(each for each in rest if len(each))
        finally:
            for worker in self.workers:
                _end(worker.pid)
            remove(self.folder)

    def _fork(self, numbers: range) -> _Worker:
        now = mmap.mmap(-1, 24)
        now[:] = struct.pack("qdd", numbers[0], time.monotonic(), 0.0)
        trace = self.folder / f"trace-{numbers[0]}"
        read, write = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            code = 1
            try:
                os.setsid()
                self._work(numbers, now, write, trace)
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        return _Worker(pid, read, numbers, now, trace)

    def _work(self, numbers: range, now: mmap.mmap, write: int, trace: Path) -> None:
        """Runs cases in this process, and says what comes of each."""
        quiet()
        with trace.open("w") as file:
            faulthandler.enable(file)
            faulthandler.register(signal.SIGUSR1, file, all_threads=False)
            limit_memory()
            for number in numbers:
                used = time.process_time()
                now[:] = struct.pack("qdd", number, time.monotonic(), used)
                fault = self._one(number)
                said: dict[str, float | str] = {"number": number, "peak": max([peak(), *commands.peaks])}
                said["seconds"] = time.process_time() - used
                commands.peaks.clear()
                if fault is not None:
                    said |= {"cause": fault.cause, "detail": fault.detail}
                os.write(write, json.dumps(said).encode() + b"\n")

    def _one(self, number: int) -> Fault | None:
        try:
            case = make(self.part, self.seed, number)
            reset_peak()
            return run(case, self.folder / str(number))
        except Exception as error:  # of the fuzzer itself
            return Fault(f"the fuzzer: {type(error).__name__}", judge.detail(error))

    def _listen(self) -> Iterator[range]:
        """What is left to do of workers that ended before their time; hears all of them for a while."""
        ready, _, _ = select.select([worker.pipe for worker in self.workers], [], [], 0.2)
        left = []
        for worker in list(self.workers):
            if worker.pipe in ready:
                heard = os.read(worker.pipe, 1 << 16)
                worker.said += heard
                self._hear(worker)
                if not heard:
                    left.append(self._ended(worker))
            elif commands.too_long(worker.pid, *worker.since()):
                self._late(worker)
        return iter(left)

    def _hear(self, worker: _Worker) -> None:
        *whole, worker.said = worker.said.split(b"\n")
        for line in whole:
            said = json.loads(line)
            self.tally.cases += 1
            self.tally.peak = max(self.tally.peak, said["peak"])
            if "cause" in said:
                self._add(said["number"], Fault(said["cause"], said["detail"]))
            elif said["seconds"] > commands.SECONDS:
                self._add(said["number"], Fault("hang: it came to its end, but late", f"{said['seconds']:.1f} s"))
            elif said["peak"] > MEMORY:
                self._add(said["number"], Fault(f"memory: more than {MEMORY:,} bytes", f"{said['peak']:,} bytes"))

    def _add(self, number: int, fault: Fault) -> None:
        self.tally.hangs += fault.cause.startswith("hang")
        self.tally.found.append(Found(self.part, number, fault))

    def _ended(self, worker: _Worker) -> range:
        """The cases that a worker has not begun; the one that it died on has failed."""
        self.workers.remove(worker)
        os.close(worker.pipe)
        _, status = os.waitpid(worker.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        number = worker.at()
        if code == 0:
            return range(0)
        trace = worker.trace.read_text(errors="replace") if worker.trace.exists() else ""
        hung = code == -signal.SIGKILL
        self.tally.cases += 1
        what = "hang" if hung else f"signal {-code}" if code < 0 else f"the worker ended with {code}"
        self._add(number, Fault(f"{what} [{judge.innermost(trace)}]", trace))
        return worker.numbers[worker.numbers.index(number) + 1 :]

    def _late(self, worker: _Worker) -> None:
        """Ends a worker whose case lasts too long, unless it has just ended; before, it writes down where it is."""
        if select.select([worker.pipe], [], [], 0.05)[0] or not commands.too_long(worker.pid, *worker.since()):
            return
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGUSR1)
            time.sleep(0.2)
        _end(worker.pid)


def _end(pid: int) -> None:
    """Ends a process that was forked here, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def quiet() -> None:
    """Points this process's standard streams to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)

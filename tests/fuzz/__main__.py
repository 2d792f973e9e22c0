"""Damaged files, strings of options and whole commands, by thousands: nothing may end in an internal error.

python -m tests.fuzz --cases 100000 --seed 1 --minutes 60              readers and option strings, verbs, the report
python -m tests.fuzz --part readers --seed 1 --case 4711               one case again, with its traceback
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads must not fork

AT_ONCE = 2_000  # cases between two lines of progress
SHARES = {"readers": 70_000, "options": 30_000, "verbs": 5_000, "report": 300}  # of 105,300 cases


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000, help="how many, over all parts or of the one that is named")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="no case is begun later")
    parser.add_argument("--part", choices=[*SHARES, "kept"], help="kept: those that failed once")
    parser.add_argument("--case", type=int, help="the number of one case, which is run alone and shown")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep the first case of each cause there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what came of all cases there")
    found = parser.parse_args(arguments)
    if found.case is not None and found.part is None:
        parser.error("--case needs --part")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 1 where a case failed."""
    given = parsed(arguments)
    import tempfile

    home = tempfile.mkdtemp(prefix="karat-fuzz-home-")
    os.environ |= {"HOME": home, "KARAT_CACHE": f"{home}/cache", "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1"}
    os.environ.pop("KARAT_DEBUG", None)
    from tests.fuzz.case import remove
    from tests.fuzz.prepare import prepare

    prepare()
    try:
        return _alone(given) if given.case is not None else _all(given)
    finally:
        remove(Path(home))


def _alone(given: argparse.Namespace) -> int:
    """Runs one case in this process and shows all of it."""
    import tempfile

    from tests.fuzz import case as cases
    from tests.fuzz import running

    case = running.make(given.part, given.seed, given.case)
    print(case.described())
    for name, content in case.files.items():
        print(f"  {name!a}: {'a folder' if content is None else f'{len(content):,} bytes {content[:100]!a}'}")
    if given.save is not None:
        cases.save(given.save, f"{given.part}-{given.seed}-{given.case}", case, "saved by hand")
    running.limit_memory()
    with tempfile.TemporaryDirectory(prefix="karat-fuzz-") as folder:
        fault = running.run(case, Path(folder) / "case")
    print("nothing to complain of" if fault is None else f"{fault.cause}\n{fault.detail}")
    return int(fault is not None)


def _all(given: argparse.Namespace) -> int:
    """Runs the cases of all parts, and says what came of them."""
    from tests.fuzz.case import kept
    from tests.fuzz.running import KEPT, Fleet, Tally
    from tests.fuzz.summary import summarise

    whole = sum(SHARES.values())
    counts = {part: max(1, round(given.cases * share / whole)) for part, share in SHARES.items()}
    if given.part is not None:
        counts = {given.part: len(kept()) if given.part == KEPT else given.cases}
    start = time.monotonic()
    tallies: dict[str, Tally] = {}
    for part, count in counts.items():
        began, tally = time.monotonic(), tallies.setdefault(part, Tally())
        for at in range(0, count, AT_ONCE):
            numbers = range(at, min(count, at + AT_ONCE))
            Fleet(part, given.seed, given.jobs, tally).run(numbers, start + 60 * given.minutes)
            rate = tally.cases / max(1e-9, time.monotonic() - began)
            causes = len({each.fault.cause for each in tally.found})
            print(f"{part}: {tally.cases:,} of {count:,} cases, {rate:,.0f}/s, {causes} causes", flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps({part: asdict(tally) for part, tally in tallies.items()}))
    return summarise(tallies, given.seed, time.monotonic() - start, given.save)


if __name__ == "__main__":
    sys.exit(main())

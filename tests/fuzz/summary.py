"""What came of all cases: causes with a command that repeats one case of each, and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.fuzz import case as cases
from tests.fuzz.running import Found, Tally, make


def summarise(tallies: Mapping[str, Tally], seed: int, seconds: float, folder: Path | None) -> int:
    """1 where a case failed, else 0; prints causes and figures, and keeps a case of each cause in the folder."""
    causes: dict[str, list[Found]] = {}
    for tally in tallies.values():
        for each in tally.found:
            causes.setdefault(each.fault.cause, []).append(each)
    for number, (cause, found) in enumerate(sorted(causes.items(), key=lambda item: -len(item[1])), 1):
        print(f"\n{number}. {cause}: {len(found):,} cases")
        _show(min(found, key=lambda each: each.number), seed, folder)
    total, failed = sum(each.cases for each in tallies.values()), sum(map(len, causes.values()))
    hangs, most = sum(each.hangs for each in tallies.values()), max(each.peak for each in tallies.values())
    print(
        f"\n{total:,} cases in {seconds:,.0f} s ({total / max(seconds, 1e-9):,.0f}/s), seed {seed}: {failed:,} failed "
        f"of {len(causes)} causes, {hangs} hangs, peak memory {most / 1e6:,.0f} MB"
    )
    return int(failed > 0)


def _show(found: Found, seed: int, folder: Path | None) -> None:
    """Prints a case that failed, and keeps it; one that could not even be made is of the fuzzer itself."""
    last = found.fault.detail.strip().splitlines() or [""]
    if not found.fault.cause.startswith("the fuzzer"):
        case = make(found.part, seed, found.number)
        print(f"   {case.described()[:300]}")
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            cases.save(folder, f"{found.part}-{seed}-{found.number}", case, found.fault.cause)
    print(f"   {last[-1][:300]!a}")
    print(f"   python -m tests.fuzz --part {found.part} --seed {seed} --case {found.number}")

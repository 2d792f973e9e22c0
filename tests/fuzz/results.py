"""Damage to `.karat` files that gets past their checksum."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from random import Random
from typing import Any

import msgspec

from tests.formats.test_damaged import TO_BYTES
from tests.fuzz.damage import DEPTHS, NUMBERS, TEXTS, changed


def damaged_results(content: bytes, draw: Random) -> bytes:
    """A `.karat` file whose checksum is right although its content is damaged; now and then the envelope is, too."""
    try:
        envelope = msgspec.msgpack.decode(content)
        inside = msgspec.msgpack.decode(envelope["content"])
        assert {"scores", "tallies"} <= inside.keys()
        assert all(isinstance(each, dict) for name in ("scores", "tallies") for each in inside[name])
    except Exception:  # damaged before
        return draw.choice(TO_BYTES)(content, draw.randrange(100_000), draw.randrange(100_000))
    kind = draw.randrange(10)
    if kind == 0:
        return _packed(changed(envelope, draw, odd_packed))
    if kind <= 4 and inside["scores"]:
        _changed_score(draw.choice(inside["scores"]), draw)
    elif kind == 5 and inside["scores"]:
        column = draw.choice(("corpus", "system", "protocol", "metric", "cutoff", "k", "subset", "average", "fitted"))
        one, two = draw.choice(inside["scores"]), draw.choice(inside["scores"])
        one[column], two[column] = two.get(column), one.get(column)
    elif kind == 6 and inside["tallies"]:
        tally = draw.choice(inside["tallies"])
        tally[draw.choice([*tally, "x"])] = odd_packed(draw)
    elif kind == 7:
        inside["part"] = [draw.choice(NUMBERS), draw.choice(NUMBERS)]
    else:
        inside = changed(inside, draw, odd_packed)
    if draw.random() < 0.05:
        return _packed(inside | {"karat": 1} if isinstance(inside, dict) else inside)
    body = _packed(inside)
    if draw.random() < 0.05:
        body = draw.choice(TO_BYTES)(body, draw.randrange(100_000), draw.randrange(100_000))
    return msgspec.msgpack.encode({"karat": 2, "checksum": blake2b(body, digest_size=16).digest(), "content": body})


def _packed(tree: Any) -> bytes:
    with suppress(OverflowError, RecursionError, UnicodeError):
        return msgspec.msgpack.encode(tree)
    return b"\x91" * 5000


def _changed_score(score: dict[str, Any], draw: Random) -> None:
    kind = draw.randrange(8)
    which = draw.choice(("values", "units"))
    if which == "units" and score.get("units") is None:
        if kind == 0:
            score["units"] = {"shape": [1], "data": b"\x00" * 8}
        which = "values"
    array = score.get(which)
    if not isinstance(array, dict) or not isinstance(array.get("data"), bytes) or "shape" not in array:
        return  # damaged before
    if kind <= 2:
        data, odd = bytearray(array["data"]), draw.choice(_EIGHT)
        for _ in range(draw.choice((1, 1, 5, 1000))):
            at = 8 * draw.randrange(max(1, len(data) // 8))
            data[at : at + 8] = odd
        array["data"] = bytes(data)
    elif kind <= 4:
        array["shape"] = draw.choice(
            ([-1], [], [0], [0, 0], [2**40, 0], [0, 2**62], [-1, 1], [1, -1], [1], [2**63 - 1], [True], [1, 2, 3])
        )
    elif kind == 5:
        array["data"] = draw.choice((b"", array["data"][:-1], array["data"] * 2, b"\x00" * 8))
    elif kind == 6:
        score["options"] = score["options"] if isinstance(score.get("options"), dict) else {}
        score["options"][draw.choice((*score["options"], "score", "alpha", "x", "k"))] = draw.choice((*TEXTS, *NUMBERS))
    else:
        key = draw.choice(("metric", "cutoff", "k", "subset", "average", "fitted", "protocol", "system", "corpus"))
        score[key] = draw.choice((*_WORDS, *NUMBERS, *TEXTS, None))


_WORDS = (
    "f1",
    "map",
    "ndcg",
    "k",
    "M",
    "V",
    "G",
    "O",
    "micro",
    "mean",
    "f-of-means",
    "all",
    "present",
    "absent",
    "P",
    "U",
)
_EIGHT = [msgspec.msgpack.encode(value)[1:] for value in (-1.0, 1e308, -1e308, 5e-324, 0.0, 1e16)]
_EIGHT = [each[::-1] for each in _EIGHT] + [bytes(8), b"\xff" * 8, b"\x00" * 6 + b"\xf0\x7f", b"\xff" * 7 + b"\x7f"]


def odd_packed(draw: Random) -> Any:
    """A value that hardly belongs anywhere, as msgpack."""
    kind = draw.randrange(8)
    if kind < 2:
        return draw.choice(NUMBERS)
    if kind < 4:
        return draw.choice(TEXTS)
    if kind == 4:
        return msgspec.Raw(draw.choice((b"\x91", b"\x81\xa1a")) * draw.choice(DEPTHS) + b"\x01")
    if kind == 5:
        return msgspec.Raw(
            draw.choice((b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xc1", b"\xd9\x02\xff\xfe"))
        )
    odd: Sequence[Any] = (
        None,
        True,
        [],
        {},
        b"",
        b"\xff",
        [None],
        [[]],
        {"": 0},
        {1: 2},
        ["a"],
        [1, 2, 3],
        "f1",
        10**6,
    )
    return draw.choice(odd)

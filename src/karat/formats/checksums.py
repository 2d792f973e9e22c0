"""Checksums in the files that karat writes for itself: unfinished runs, answers, trained models, caches.

CRC-32 detects damage (a flipped bit, a torn write, a bad sector), not people who change a file on purpose: these can
compute the checksum as well. A line begins with the checksum of the rest of it. A JSON object has the checksum of
its other members, byte for byte, as its first member. A row of a database has one of all its values.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

import msgspec

from karat.errors import InputError

REMEDY = "restore it from a copy, or train again"
CHECKSUM_LENGTH = 9  # of what stands before a line
_BLOCK = 1 << 20
_MEMBER = re.compile(rb'\{\s*"checksum": "(.{8})",', re.DOTALL)


def checksum(content: bytes) -> str:
    """Compute the CRC-32 of some bytes, as eight hexadecimal digits.

    >>> checksum(b"neural networks")
    '7ba12b2e'
    """
    return f"{zlib.crc32(content):08x}"


def file_checksum(path: str | Path) -> str:
    """Compute the CRC-32 of a file."""
    value = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return f"{value:08x}"


def row_checksum(*values: Any) -> int:
    """Compute the CRC-32 of the values of a row."""
    return zlib.crc32(msgspec.msgpack.encode(values))


def damage(path: str | Path, remedy: str = REMEDY) -> InputError:
    """Build the error for a file whose content does not match its checksum."""
    return InputError(f"{path}: is damaged: its content does not match its checksum; {remedy}")


def no_checksum(path: str | Path) -> str:
    """Build the note on a file that an earlier version of karat wrote."""
    return f"{path}: has no checksum, as an earlier version of karat wrote it: damage to it is not detected"


# ---------------------------------------------------------------------------------------------- lines


def checksum_line(line: bytes) -> bytes:
    """Put the checksum of a line before it.

    >>> checksum_line(b"bees"), verify_line(checksum_line(b"bees")), verify_line(b"0" + checksum_line(b"bees")[1:])
    (b'2ff1563b bees', b'bees', None)
    """
    return b"%08x %b" % (zlib.crc32(line), line)


def verify_line(content: bytes) -> bytes | None:
    """Return a line without its checksum; None if the line is damaged or incomplete."""
    line = content[CHECKSUM_LENGTH:]
    return line if content[:CHECKSUM_LENGTH] == b"%08x " % zlib.crc32(line) else None


# ---------------------------------------------------------------------------------------------- JSON objects


def checksum_json(content: bytes) -> bytes:
    """Insert the checksum of a JSON object that has members as its first member.

    >>> checksum_json(b'{"format": 1}'), verify_json(checksum_json(b'{"format": 1}'), "a.json")
    (b'{"checksum": "e234bd89","format": 1}', (b'{"format": 1}', True))
    """
    blank = content[1 : len(content) - len(content[1:].lstrip())]
    return b'{%b"checksum": "%08x",%b' % (blank, zlib.crc32(content), content[1:])


def verify_json(content: bytes, path: str | Path, remedy: str = REMEDY) -> tuple[bytes, bool]:
    """Return a JSON object without its checksum, and whether it had one.

    Raises:
        InputError: The content does not match the checksum.
    """
    member = _MEMBER.match(content)
    if member is None:
        return content, False
    plain = b"{" + content[member.end() :]
    if checksum(plain).encode() != member[1]:
        raise damage(path, remedy)
    return plain, True


def has_checksum(beginning: bytes) -> bool:
    """Tell whether a JSON object that begins like this has a checksum."""
    return _MEMBER.match(beginning) is not None

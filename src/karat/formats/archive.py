"""The zip archives that office programs write: members by name, none of them decompressed beyond the limits."""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib

from karat.errors import InputError
from karat.limits import limits

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how files of old office programs begin, and encrypted new ones
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
_ENCRYPTED = 1  # of the flags of a member


class Archive:
    """The members of a zip archive. Raises InputError if it is damaged, encrypted, or larger than the limits."""

    def __init__(self, content: bytes, kind: str) -> None:
        self.kind = kind
        if content.startswith(_OLE):
            raise InputError(
                f"this is no {kind} file but one of an old format, or it is encrypted; save it anew as {kind}"
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except _FAULTS as error:
            raise self._damaged(error) from None
        members = self._zip.infolist()
        if len(members) > limits().members:
            raise limits().exceeded("members", "", f"this {kind} file")
        if sum(member.file_size for member in members) > limits().unpacked:
            raise limits().exceeded("unpacked", "", f"what this {kind} file unpacks to")
        self._names = {member.filename: member for member in members}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return list(self._names)

    def read(self, name: str) -> bytes:
        """A member: never more of it than the archive says that it has, and all of these within the limits."""
        member = self._names[name]
        if member.flag_bits & _ENCRYPTED:
            raise InputError(f"this {self.kind} file is encrypted; save it without a password first")
        try:
            return self._zip.read(member)
        except _FAULTS as error:
            raise self._damaged(error) from None

    def _damaged(self, error: BaseException) -> InputError:
        return InputError(f"this {self.kind} file cannot be read ({type(error).__name__}: {str(error)[:100]})")

"""karat's own JSON lines: a corpus or a run, one document a line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypeVar

import msgspec

from karat.corpus import Batch, Batches, Document, Prediction, text_of_id
from karat.errors import InputError
from karat.formats.files import blocks, decode_utf8

R = TypeVar("R", Document, Prediction)


class _Id(msgspec.Struct, gc=False):
    id: str | int | None = None


_decode_id = msgspec.json.Decoder(_Id).decode
_DECODERS = {kind: msgspec.json.Decoder(kind) for kind in (Document, Prediction)}


def corpus(path: str) -> Batches[Document]:
    """The documents of a file."""
    return partial(_batches, path, Document)


def run(path: str) -> Batches[Prediction]:
    """The predictions of a file."""
    return partial(_batches, path, Prediction)


def _batches(path: str, kind: type[R]) -> Iterator[Batch[R]]:
    """Batches of undecoded lines: only the ids are read here, the rest where the batch is used."""
    decode = partial(_decode, path, kind)
    empty = True
    for first, lines in blocks(path):
        places = [n for n, line in enumerate(lines, first) if not line.isspace()]
        if len(places) < len(lines):
            lines = [line for line in lines if not line.isspace()]
        if not lines:
            continue
        empty = False
        try:
            ids = [text_of_id(_decode_id(line).id) for line in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError):
            ids = [text_of_id(decode(line, place).id) for line, place in zip(lines, places, strict=True)]
        yield Batch(ids, lines, places, decode)
    if empty:
        raise InputError(f"{path}: the file is empty")


def _decode(path: str, kind: type[R], line: bytes, number: int) -> R:
    try:
        return _DECODERS[kind].decode(line)  # type: ignore[return-value]
    except msgspec.ValidationError as error:
        raise InputError(f"{path}:{number}: {_explain(str(error))}") from None
    except msgspec.DecodeError as error:
        decode_utf8(line, path, number)
        raise InputError(f"{path}:{number}: not JSON: {_column(str(error))}") from None


def _explain(message: str) -> str:
    if "`array | null`, got `str`" in message and "keyphrases" in message:
        return f'{message}; write a list of phrases: "keyphrases": ["a b", "c"]'
    return message


def _column(message: str) -> str:
    """msgspec counts bytes from 0; people count columns from 1."""
    head, found, byte = message.rpartition("(byte ")
    return f"{head}(column {int(byte.rstrip(')')) + 1})" if found else message

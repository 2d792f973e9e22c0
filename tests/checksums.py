"""Trained models and unfinished runs as tests need them: without checksums, or with others."""

from __future__ import annotations

from pathlib import Path

import msgspec

from karat.formats.checksums import checksum_line, verify_json


def remove_checksums(model: Path) -> Path:
    """Make a trained model one of an earlier version of karat; return its path."""
    path = model / "model.json" if model.is_dir() else model
    content, _ = verify_json(path.read_bytes(), path)
    if model.is_dir():
        card = msgspec.json.decode(content)
        kept = {name: card[name] for name in card if name not in ("files", "previous")}
        content = msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"
    path.write_bytes(content)
    return model


def checksum_lines(content: bytes) -> bytes:
    """Put checksums before lines, as `FILE.part` has them."""
    return b"".join(checksum_line(line) + b"\n" for line in content.splitlines())

"""Files and folders of this process on their way to the workers, such as a trained model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from karat.formats.content import file_hash, folder_hash


def sent_files(spark: Any, paths: Sequence[str]) -> dict[str, str]:
    """Sends files and folders to all workers; the name that each has there.

    Workers in this process's machine and folder (`local[2]`) see them as they are.
    """
    context = spark.sparkContext
    if not paths or context.master.split("[")[0] == "local":
        return {}
    return {path: _send(context, Path(path).expanduser()) for path in paths}


def _send(context: Any, path: Path) -> str:
    """Sends one, a folder as an archive, unless the same content was sent before."""
    content = folder_hash(path) if path.is_dir() else file_hash(path)
    name = f"karat-{blake2b(repr(content).encode(), digest_size=8).hexdigest()}"
    own = Path(context._temp_dir, name)  # removed when the session ends
    if not path.is_dir():
        name = f"{name}{path.suffix}"
        if not own.exists():
            own.mkdir()
            shutil.copy(path, own / name)
            context.addFile(str(own / name))
        return name
    packed = Path(f"{own}.zip")
    if not packed.exists():
        shutil.make_archive(str(own), "zip", path)
        context.addArchive(f"{packed}#{name}")
    return name

"""Files where Spark sees them: folders of this machine, or addresses such as hdfs://HOST/corpus.jsonl."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from karat.engines import is_address as is_address
from karat.errors import InputError


def names_at(spark: Any, path: str) -> list[str]:
    """The files at a path, sorted: itself, or those of a folder that are no marks; none where there is nothing."""
    if not is_address(path):
        if not os.path.isdir(path):
            return [path] if os.path.exists(path) else []
        return sorted(os.path.join(path, name) for name in os.listdir(path) if not name.startswith(("_", ".")))
    found = Files(spark, path)
    if not found.exists():
        raise InputError(f"{path}: there is no such file")
    return sorted(found.names()) if found.is_folder() else [path]


def seen(path: str) -> str:
    """A path as Spark, whose own folder may be another, sees it."""
    return path if is_address(path) else os.path.abspath(path)


class Files:
    """A path on a file system that Spark knows."""

    def __init__(self, spark: Any, path: str) -> None:
        self._hadoop = spark._jvm.org.apache.hadoop.fs
        self._spark, self.path = spark, seen(path)
        self._path = self._hadoop.Path(self.path)
        self._system = self._path.getFileSystem(spark._jsc.hadoopConfiguration())

    def at(self, *names: str) -> Files:
        """A path within this folder."""
        return Files(self._spark, "/".join([self.path.rstrip("/"), *names]))

    def exists(self) -> bool:
        """Whether there is something."""
        return bool(self._system.exists(self._path))

    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.exists() and bool(self._system.getFileStatus(self._path).isDirectory())

    def names(self) -> Iterator[str]:
        """The paths of the files of a folder that are no marks."""
        for status in self._system.listStatus(self._path):
            if not status.getPath().getName().startswith(("_", ".")):
                yield f"{self.path.rstrip('/')}/{status.getPath().getName()}"

    def text(self) -> str:
        """The content of a small file."""
        stream = self._system.open(self._path)
        try:
            return str(self._spark._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, text: str) -> None:
        """Makes a small file."""
        stream = self._system.create(self._path, True)
        try:
            stream.writeBytes(text)
        finally:
            stream.close()

    def move(self, target: Files) -> None:
        """Gives it another path; raises InputError where that cannot be."""
        if not self._system.rename(self._path, target._path):
            raise InputError(f"{self.path}: cannot be moved to {target.path}")

    def delete(self) -> None:
        """Deletes it, and what is in it."""
        self._system.delete(self._path, True)

"""Files out: written beside their place, synced, and put in place whole; one process at a time.

A file or folder `NAME` that is being written stands beside its place as `.NAME.karat-new`, and whoever writes it holds
a lock on `.NAME.karat-lock`, which says who that is. A killed process loses its lock, so the next one that writes in
the folder can tell what it left behind, and removes it.
"""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import IO, cast

from karat.errors import InputError
from karat.formats.files import zstandard
from karat.record import is_input, note_output

try:
    import fcntl
except ImportError:  # not on every system; there files are whole all the same, but two writers are not kept apart
    fcntl = None  # type: ignore[assignment]

NEW, LOCK = ".karat-new", ".karat-lock"
LONGEST_NAME = 255  # bytes, on most file systems
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL)  # of file systems that have none
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CREATE = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_held: dict[Path, int] = {}  # the outputs that this process holds, and the thread that does
_guard = threading.Lock()
_locks: set[int] = set()  # the lock files that this process has open


def _close_locks() -> None:
    """Close the locks in a forked process: a worker that outlives a killed command must not hold its outputs."""
    while _locks:
        os.close(_locks.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locks)


def _beside(target: Path, suffix: str) -> Path:
    """The path beside a target that has its name and a suffix; a name that would be too long is shortened."""
    name = f".{target.name}{suffix}"
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = f".{blake2b(os.fsencode(target.name), digest_size=16).hexdigest()}{suffix}"
    return target.with_name(name)


def _target(path: str | Path) -> Path:
    """Return the real path of an output. Raises InputError if its links lead back to themselves."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise InputError(f"{path}: is a link that leads back to itself; remove it, or name another file")
    return target


# ---------------------------------------------------------------------------------------------- one writer at a time


@contextmanager
def claimed(path: str | Path) -> Iterator[None]:
    """Holds an output for this process, and removes what killed processes left in its folder.

    Raises InputError if another process, or another thread of this one, holds it, or if it is an input of the same
    command. What is no plain file or folder (a device, a pipe) cannot be held. A thread may claim again what it holds.
    """
    target = _target(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        yield
        return
    note_output(path)
    thread = threading.get_ident()
    with _guard:
        holder = _held.get(target)
        if holder is None:
            _held[target] = thread
    if holder == thread:
        yield
        return
    if holder is not None:
        raise InputError(f"{path}: another thread of this process is writing it")
    try:
        with writing_errors(path, target.parent):
            lock = _lock(target)
        try:
            _remove_left_overs(target.parent)
            with _full_disk(path):
                yield
        finally:
            _unlock(target, lock)
    finally:
        with _guard:
            del _held[target]


@contextmanager
def _full_disk(path: str | Path) -> Iterator[None]:
    """Name the output in an error of a disk that is full, wherever its work was written (a part, a state)."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise _not_written(path, error) from None


def _lock(target: Path) -> int:
    """The open lock file of a target, locked by this process and signed; InputError where another one has it."""
    path = _beside(target, LOCK)
    while True:
        lock = os.open(path, os.O_RDWR | _CREATE, 0o666)
        try:
            _flock(lock, target)
            if _is_open(lock, path):
                _sign(lock, path)
                _locks.add(lock)
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # the one who held it has removed the file meanwhile: once more with a new one


def _sign(lock: int, path: Path) -> None:
    """Write into a lock file whose it is; it is removed where that fails."""
    try:
        os.truncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {_host()} since {datetime.now():%F %T}".encode())
    except BaseException:
        os.unlink(path)
        raise


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else "this machine"


def _flock(lock: int, target: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        who = "".join(filter(str.isprintable, os.read(lock, 200).decode(errors="replace"))) or "another process"
        raise InputError(f"{target}: {who} is writing it; wait for that to end, or name another file") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _is_open(lock: int, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    return False


def _unlock(target: Path, lock: int) -> None:
    if lock not in _locks:  # the process that forked this one holds it
        return
    _locks.remove(lock)
    with suppress(OSError):
        os.unlink(_beside(target, LOCK))
    os.close(lock)


def _remove_left_overs(folder: Path) -> None:
    """Removes what killed processes left in a folder: what stands beside an output that nobody holds any more."""
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries if entry.name.startswith(".") and entry.name.endswith((NEW, LOCK))}
    for name in sorted({name.removesuffix(NEW).removesuffix(LOCK) for name in names}):
        with suppress(OSError, InputError):
            _remove_left_over(folder / name, held={_beside(target, "") for target in _held})


def _remove_left_over(stem: Path, held: set[Path]) -> None:
    """Removes what is left of one output, unless a process holds it or this command reads it."""
    if stem in held or is_input(stem.with_name(stem.name + NEW)):
        return
    path = stem.with_name(stem.name + LOCK)
    lock = os.open(path, os.O_RDWR | _CREATE, 0o666)
    try:
        _flock(lock, stem)
        if _is_open(lock, path):
            _remove(stem.with_name(stem.name + NEW))
            path.unlink()
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------- files


def write_beside(path: str | Path, content: bytes) -> None:
    """Writes the file as a whole: see `writing_beside`."""
    with writing_beside(path) as file:
        file.write(content)


@contextmanager
def writing_beside(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to: it stands beside its place until all is written, so that a failure leaves the old one.

    A link stays one, its target is replaced; what is no plain file (a device, a pipe) is written to as it is.
    """
    target = _target(path)
    with writing_errors(path, target.parent):
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        with claimed(path), _new(target) as new:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_EXCL | _CREATE, mode_of(target, 0o666)), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            put_in_place(new, target)


@contextmanager
def writing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, beside its place until it is whole; compressed if its name says so."""
    with writing_beside(path) as file:
        if str(path).endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                yield cast(IO[bytes], packed)
        elif str(path).endswith(".zst"):
            with zstandard().ZstdCompressor().stream_writer(file, closefd=False) as packed:
                yield packed
        else:
            yield file


@contextmanager
def folder_beside(path: str | Path) -> Iterator[Path]:
    """A folder to fill, which takes its name when all is in it; one that is there already is not touched."""
    target = _target(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{path}: is there already and is not an empty folder")
    with writing_errors(path, target.parent), working_folder(path) as new:
        try:
            yield new
        except InputError as error:
            raise type(error)(str(error).replace(str(new), str(path))) from None
        put_in_place(new, target)


@contextmanager
def working_folder(path: str | Path) -> Iterator[Path]:
    """An empty folder beside an output, which this process holds meanwhile; removed at the end if it is still there."""
    target = _target(path)
    with claimed(path), _new(target) as new:
        new.mkdir(0o700 if target.is_file() else mode_of(target, 0o777))
        yield new


@contextmanager
def _new(target: Path) -> Iterator[Path]:
    """Where a target is written that this process holds; nothing is left there in the end."""
    new = _beside(target, NEW)
    note_output(new)  # so that what is read back from there is no input
    _remove(new)
    try:
        yield new
    finally:
        with suppress(OSError):
            _remove(new)


def mode_of(target: Path, most: int) -> int:
    """Return the mode that a new file or folder is made with: no wider for others than that of what it replaces."""
    try:
        return (stat.S_IMODE(target.stat().st_mode) | stat.S_IRWXU) & most
    except FileNotFoundError:
        return most


def put_in_place(new: Path, target: Path) -> None:
    """Gives a file or folder its final name, on the disk too."""
    if new.is_dir():
        for root, _, names in os.walk(new):
            for each in (*names, ""):
                _sync(Path(root, each))
    _keep_mode(new, target)
    os.replace(new, target)
    _sync(target.parent)


def _keep_mode(new: Path, target: Path) -> None:
    """Give a new file or folder the mode of the one that it replaces."""
    with suppress(FileNotFoundError):
        os.chmod(new, stat.S_IMODE(target.stat().st_mode))


def _sync(path: Path) -> None:
    """Waits until a file's content, or a folder's names, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def writing_errors(path: str | Path, parent: Path) -> Iterator[None]:
    """Turns what can go wrong while a file is written into a sentence."""
    try:
        yield
    except FileNotFoundError:
        missing = f"{path}: no file can be made there" if parent.is_dir() else f"{parent}: there is no such folder"
        raise InputError(missing) from None
    except PermissionError:
        raise InputError(f"{parent}: no permission to write there") from None
    except OSError as error:
        raise _not_written(path, error) from None


def _not_written(path: str | Path, error: OSError) -> InputError:
    return InputError(f"{path}: could not be written ({error.strerror})")

"""The command in a process of its own that is forked from one that has it loaded: it starts in milliseconds.

    python tests/forked.py serve SOCKET          the process that has it loaded; it ends with the one that started it
    python tests/forked.py run SOCKET ARG...     `karat ARG...` with this process's files, folder and environment

`program()` is the second one, ready to be given arguments. Tests of how the command starts, or of signals, do without.
"""

from __future__ import annotations

import marshal
import os
import socket
import sys

TYPE_CHECKING = False  # typing itself would take longer to load than all the rest of `run`
if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

HELD = 1 << 20  # bytes of a request at most
LIBRARIES = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.cluster.hierarchy",
    "scipy.spatial.distance",
    "rapidfuzz.process",
    "nltk.tokenize.destructive",
    "httpx",
)


def load() -> None:
    """Imports all that verbs need, so that no command has to load it again; generators and what is missing aside."""
    from contextlib import suppress
    from importlib import import_module
    from pkgutil import walk_packages

    import karat

    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    for module in walk_packages(karat.__path__, "karat."):
        if not module.name.endswith("__main__") and ".generators" not in module.name:
            import_module(module.name)


def serve(path: str) -> None:
    """Nothing; answers requests until the process that started this one is gone."""
    import signal
    from contextlib import suppress

    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads must not fork
    load()
    from karat.text.tags import tags

    tags([["a"]])  # loads the tagger
    parent = os.getppid()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(path)
    listening.listen(64)
    listening.settimeout(2.0)
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever waits for a child is the child's own parent, below
    while os.getppid() == parent:
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _answer(connection)
            connection.close()
    os.unlink(path)


def _answer(connection: socket.socket) -> None:
    """Nothing; runs one command in a child and sends its exit code."""
    import signal

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.settimeout(None)
    request, files, _, _ = socket.recv_fds(connection, HELD, 3)
    child = os.fork()
    if child == 0:
        for number, file in enumerate(files):
            os.dup2(file, number)
        _run(*marshal.loads(request))
    _, status = os.waitpid(child, 0)
    connection.sendall(marshal.dumps(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _run(arguments: list[str], folder: bytes, environment: dict[bytes, bytes]) -> None:
    from karat.cli import main

    os.environb.clear()
    os.environb.update(environment)
    os.chdir(folder)
    sys.argv = ["karat", *arguments]
    code: object = 70
    try:
        main()
    except SystemExit as error:
        code = error.code
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def run(path: str, arguments: list[str]) -> None:
    """Nothing; ends this process as the command ends."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    request = marshal.dumps((arguments, os.getcwdb(), dict(os.environb)))
    socket.send_fds(connection, [request], [0, 1, 2])
    code = marshal.loads(connection.recv(64))
    os._exit(code if code >= 0 else 128 - code)


_path = ""


def program() -> list[str]:
    """The words before the arguments of a command; what answers is started when first asked for."""
    global _path
    if not _path:
        import atexit
        import subprocess
        import tempfile
        from pathlib import Path

        folder = tempfile.TemporaryDirectory(prefix="karat-forked-")
        path = str(Path(folder.name, "socket"))
        source = str(Path(__file__).parents[1] / "src")
        server = subprocess.Popen(
            [sys.executable, __file__, "serve", path],
            env=os.environ | {"PYTHONPATH": source},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"

        def stop() -> None:
            server.terminate()
            server.wait()
            server.stdout.close()  # type: ignore[union-attr]
            folder.cleanup()

        atexit.register(stop)
        _path = path
    return [sys.executable, "-I", "-S", __file__, "run", _path]


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The finished command in a folder, on a terminal of 80 columns."""
    import subprocess

    return subprocess.run(
        [*program(), *arguments],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        run(sys.argv[2], sys.argv[3:])

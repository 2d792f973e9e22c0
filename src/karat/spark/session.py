"""A session of Spark: the one that is there, or a new one for a master, with this environment's Python."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import karat
from karat.errors import KaratError
from karat.isolation import SAFE_PATH, is_secret, worker_environment
from karat.libraries import library
from karat.spark.failures import root_cause

JAVA = 17  # the first version that Spark 4 runs on
_LOGGING = Path(__file__).with_name("log4j2.properties")
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.session.timeZone": "UTC",
    f"spark.executorEnv.{SAFE_PATH}": "1",  # else `python -m pyspark.daemon` imports from the current folder
    "spark.sql.files.maxPartitionBytes": "32m",  # 128 MB of texts are much for small workers
}
_HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",  # the driver is all there is of `local[2]`
    "spark.sql.shuffle.partitions": "16",  # 200 small tasks would be most of the work
}
_KEPT = ("AWS_", "AZURE_", "GOOGLE_", "PYSPARK_", "SPARK_")  # keys of stores, and of the session under spark-submit
_CHATTER = ("Picked up ", "WARNING: Using incubator modules", "Setting default log level", "To adjust logging level")
PATIENCE = 10.0  # seconds for the last lines of a process that ended
_relays = threading.Event()  # set while a session is open: standard error of Java goes to ours
RETRIES = 4  # of a task: what a cluster does by itself, and `local[N]` not unless it is told


def session(master: str | None = None) -> Any:
    """A session of Spark: the active one where there is one, else a new one for a master, by default all cores here.

    Raises KaratError if Java is missing or too old, or if the session cannot be started.
    """
    sql = library("pyspark.sql", "the engine spark")
    leave_pandas_out()
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        return active
    chosen = master or os.environ.get("MASTER") or "local[*]"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with worker_environment(_KEPT), _signal_handler():
        check_java()
        local = _HERE | _memory(chosen) | _environment() if chosen.startswith("local") else {}
        spark = _start(chosen, _QUIET | local)
    held = [name for name in dict(spark._jvm.System.getenv()) if is_secret(name)]  # those of stores, for Java alone
    spark.sparkContext.environment.update(dict.fromkeys(held, ""))
    updates = getattr(spark.sparkContext, "_accumulatorServer", None)
    if updates is not None:
        updates.handle_error = lambda *_: None  # it prints a traceback where Java ends
    return spark


def _start(master: str, settings: dict[str, str]) -> Any:
    """Start Java and a session. Raises KaratError with the reason if that fails."""
    pyspark, sql = library("pyspark", "the engine spark"), library("pyspark.sql", "the engine spark")
    conf = pyspark.SparkConf().setMaster(_with_retries(master)).setAppName("karat").setAll(list(settings.items()))
    try:
        if pyspark.SparkContext._gateway is None:
            pyspark.SparkContext._ensure_initialized(gateway=_launch_java(conf))
        spark = sql.SparkSession.builder.config(conf=conf).getOrCreate()
        _relays.set()
        return spark
    except Exception as error:  # Py4J and pyspark have no common one
        reason = str(error) if isinstance(error, KaratError) else root_cause(error)
        raise KaratError(f"Spark cannot be started with the master {master}: {reason}") from None


def _launch_java(conf: Any) -> Any:
    """Start Java. Raises KaratError if it ends at once."""
    launch = library("pyspark.java_gateway", "the engine spark").launch_gateway
    reader, writer = os.pipe()
    lines: list[str] = []
    thread = threading.Thread(target=_relay, args=(reader, lines), daemon=True)
    thread.start()
    try:
        with _delayed_signals():  # Java that is interrupted before it is connected would not end with this process
            return launch(conf, {"stderr": writer})
    except Exception as error:
        os.close(writer)
        writer = -1
        thread.join(PATIENCE)
        raise KaratError(f"Java ended: {_first_error(lines) or root_cause(error)}") from None
    finally:
        if writer >= 0:
            os.close(writer)


def _relay(reader: int, lines: list[str]) -> None:
    """Copy lines to standard error while a session is open, and collect others."""
    with open(reader, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if not _relays.is_set():
                lines.append(line.strip())
            elif not line.startswith(_CHATTER):
                with suppress(OSError):
                    os.write(2, line.encode())


def _first_error(lines: Iterable[str]) -> str:
    """Return the first line of what Java printed that is an error; an empty text if it printed nothing."""
    printed = [line for line in lines if line and not line.startswith(_CHATTER)]
    errors = [line for line in printed if "rror" in line or "xception" in line]
    return (errors or printed or [""])[0].removeprefix('Exception in thread "main" ')


@contextmanager
def _delayed_signals() -> Iterator[None]:
    """Handle the first SIGINT or SIGTERM at the end of the context; a second one interrupts it."""
    pending: list[int] = []

    def delay(number: int, _frame: Any) -> None:
        pending.append(number)
        if len(pending) > 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, delay) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if pending:
            signal.raise_signal(pending[0])


@contextmanager
def _signal_handler() -> Iterator[None]:
    """Keep the handler of SIGINT, which pyspark replaces by one that prints tracebacks."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before not in (signal.default_int_handler, None):
            with suppress(ValueError):  # in another thread than the main one
                signal.signal(signal.SIGINT, before)


def stop(spark: Any) -> None:
    """Stop a session, without the stack traces that Java prints of jobs under way."""
    _relays.clear()
    with suppress(Exception):  # Java may have ended
        spark.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the log of Py4J, which holds a traceback for each call that a signal interrupts."""
    loggers = [logging.getLogger(), logging.getLogger("py4j.java_gateway"), logging.getLogger("py4j.clientserver")]
    for logger in loggers:
        logger.addFilter(_not_of_py4j)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"


def _memory(master: str) -> dict[str, str]:
    """What an executor of a cluster in this machine may use: all that its worker has.

    >>> _memory("local-cluster[2,1,2048]"), _memory("local[2]")
    ({'spark.executor.memory': '2048m'}, {})
    """
    found = re.fullmatch(r"local-cluster\[\d+ *, *\d+ *, *(\d+)\]", master)
    return {} if found is None else {"spark.executor.memory": f"{found[1]}m"}


def leave_pandas_out() -> None:
    """Has Spark say nothing of a version of pandas, which karat's data frames do not go through."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def _with_retries(master: str) -> str:
    """A local master that does a failed task again, as clusters do.

    >>> _with_retries("local[2]"), _with_retries("local[2,1]"), _with_retries("spark://HOST:7077")
    ('local[2,4]', 'local[2,1]', 'spark://HOST:7077')
    """
    return re.sub(r"^local\[([^,\]]+)\]$", rf"local[\1,{RETRIES}]", master)


def _environment() -> dict[str, str]:
    """What workers on this machine need to find the karat that runs here."""
    source = str(Path(karat.__file__).parents[1])
    return {"spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))}


def check_java() -> None:
    """Raises KaratError if there is no Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not java or not os.path.exists(java):
        where = f"JAVA_HOME is {home}, where there is none" if home else "there is no java on the path"
        raise KaratError(f"the engine spark needs Java {JAVA} or later, and {where}")
    printed = subprocess.run(
        [java, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    ).stdout
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    if found is None:
        raise KaratError(
            f"the engine spark needs Java {JAVA} or later, and {java} fails: {_first_error(printed.splitlines())}"
        )
    if int(found[1]) < JAVA:
        raise KaratError(
            f"the engine spark needs Java {JAVA} or later, and {java} is Java {found[1]}; JAVA_HOME names another"
        )

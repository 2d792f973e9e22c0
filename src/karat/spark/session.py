"""A session of Spark: the one that is there, or a new one for a master, with this environment's Python."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import karat
from karat.errors import KaratError
from karat.libraries import library

JAVA = 17  # the first version that Spark 4 runs on
_LOGGING = Path(__file__).with_name("log4j2.properties")
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.maxPartitionBytes": "32m",  # 128 MB of texts are much for small workers
}
_HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",  # the driver is all there is of `local[2]`
    "spark.sql.shuffle.partitions": "16",  # 200 small tasks would be most of the work
}
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
    check_java()
    chosen = master or os.environ.get("MASTER") or "local[*]"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(_with_retries(chosen)).appName("karat")
    own = _HERE | _memory(chosen) | _environment() if chosen.startswith("local") else {}
    for name, value in (_QUIET | own).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # Py4J and pyspark have no common one
        reason = str(error).strip().splitlines()
        raise KaratError(
            f"Spark cannot be started with the master {chosen}: {reason[0] if reason else error}"
        ) from None


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
    said = subprocess.run([java, "-version"], capture_output=True, text=True, errors="replace").stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < JAVA:
        version = f"Java {found[1]}" if found else "no Java that tells its version"
        raise KaratError(
            f"the engine spark needs Java {JAVA} or later, and {java} is {version}; JAVA_HOME names another"
        )

"""The picture of the report in the README: `python -m docs.picture` makes it anew, by Debian's chromium.

The report is that of `karat demo`; only its upper part is shown.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

PICTURE = Path(__file__).parent / "report.png"
SIZE = "1280,1180"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)


def main() -> None:
    """Runs the demo, opens its report and writes the picture."""
    with TemporaryDirectory() as folder:
        subprocess.run(["karat", "demo", "--folder", folder], check=True, stdout=subprocess.DEVNULL)
        command = ["chromium", *FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={SIZE}"]
        subprocess.run([*command, f"--screenshot={PICTURE}", f"file://{folder}/report.html"], check=True)


if __name__ == "__main__":
    main()

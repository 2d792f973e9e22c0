"""A real browser for the tests of pages, with scripts and without, and what is asked of it."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE

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
# Kept before anything of the page runs, so that nothing it does is missed.
WATCH = """
window.seen = [];
document.addEventListener('securitypolicyviolation', (event) => seen.push(event.violatedDirective));
addEventListener('error', (event) => seen.push(event.message));
addEventListener('unhandledrejection', (event) => seen.push(String(event.reason)));
window.alert = (text) => seen.push('alert ' + text);
"""
Open = Callable[..., Any]


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[bool], Any]]:
    """One browser with scripts and one without, started when first asked for."""
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    started: dict[bool, Any] = {}

    def browser(scripts: bool) -> Any:
        if scripts not in started:
            options = ChromeOptions()
            options.binary_location = str(shutil.which("chromium"))
            for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
                options.add_argument(flag)
            if not scripts:
                options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
            options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
            started[scripts] = Chrome(options=options, service=ChromeService(str(shutil.which("chromedriver"))))
            started[scripts].set_script_timeout(PATIENCE)
            started[scripts].execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        return started[scripts]

    yield browser
    for each in started.values():
        each.quit()


@pytest.fixture
def opened(start: Callable[[bool], Any]) -> Open:
    """Opens a page at a width and in a theme; comes back when its documents can be looked through."""

    def at(path: Path, width: int = 1280, theme: str = "light", scripts: bool = True, address: str = "") -> Any:
        found = start(scripts)
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        found.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wishes = {
            "prefers-color-scheme": theme,
            "prefers-reduced-motion": "reduce",
        }  # no smooth scrolling below a click
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        found.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        found.get("about:blank")
        found.get_log("browser")
        found.get(path.as_uri() + address)
        if scripts:
            until(found, "return document.querySelector('.view article') !== null")
        return found

    return at


def until(found: Any, script: str) -> Any:
    """What a script gives as soon as it is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(found, PATIENCE, 0.02).until(lambda _: found.execute_script(script))


def one(found: Any, selector: str) -> Any:
    return found.find_element("css selector", selector)


def click(found: Any, selector: str) -> None:
    """Click an element, and its successor if the page is just replacing it."""
    from selenium.common.exceptions import StaleElementReferenceException

    try:
        one(found, selector).click()
    except StaleElementReferenceException:
        one(found, selector).click()


def texts(found: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    return list(found.execute_script(script, selector))


def choose(found: Any, name: str, value: str) -> None:
    """Chooses an option of the field that is named so, as a person does."""
    from selenium.webdriver.support.ui import Select

    field = found.find_element("xpath", f"//div[@class='controls']//label[starts-with(., '{name}')]/select")
    Select(field).select_by_visible_text(value)


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, fetched by npm for these tests alone."""
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "pack", "--silent", "axe-core"], cwd=folder, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        source = packed.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


def faults_of(found: Any, axe: str) -> list[Any]:
    """What axe-core finds wrong with a page, all that can be opened being open."""
    found.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    found.execute_script(axe)
    script = "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
    faults = found.execute_async_script(script)
    return [(fault["id"], fault["impact"], [node["html"][:200] for node in fault["nodes"][:3]]) for fault in faults]

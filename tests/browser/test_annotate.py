"""Sheets of annotators in a real browser, opened from disk: answers are kept, whatever happens to tab and browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.annotation.study import load_study
from tests.browser.test_page import FLAGS, WATCH, axe, one, texts, until  # noqa: F401  axe is a fixture
from tests.waiting import PATIENCE
from tests.waiting import until as wait

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = ("ana", "ben", "cem", "dov")
TASKS = ("set", "pair", "phrase", "reference")
START = "return document.getElementById('sheet').hidden === false"


class Browser:
    """A browser with a profile of its own, which may be closed and opened again."""

    def __init__(self, folder: Path) -> None:
        self.profile, self.downloads = folder / "profile", folder / "downloads"
        self.downloads.mkdir()
        self.driver = self._start()

    def _start(self) -> Any:
        from selenium.webdriver import Chrome, ChromeOptions, ChromeService

        options = ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in (*FLAGS, f"--user-data-dir={self.profile}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"download.default_directory": str(self.downloads)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        found = Chrome(options=options, service=ChromeService(str(shutil.which("chromedriver"))))
        found.set_script_timeout(PATIENCE)
        self.watch(found)
        return found

    @staticmethod
    def watch(driver: Any) -> None:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def open(self, path: Path, width: int = 1280, theme: str = "light") -> Any:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.get(path.as_uri())
        until(self.driver, START)
        return self.driver

    def again(self) -> None:
        """Closes the browser and opens it again."""
        self.driver.quit()
        self.driver = self._start()

    def saved(self, name: str) -> Path:
        """The file that the page saves."""
        path = self.downloads / name
        path.unlink(missing_ok=True)
        press(self.driver, "s")
        wait(path.exists, f"{name} is saved")
        return path


def press(driver: Any, *keys: str) -> None:
    """Presses keys, as somebody who has nothing but a keyboard."""
    from selenium.webdriver import ActionChains

    ActionChains(driver, duration=0).send_keys(*keys).perform()


def count(driver: Any) -> str:
    return str(one(driver, "#count").text)


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of 40 documents for each task."""
    folder = tmp_path_factory.mktemp("studies")
    documents = karat.Corpus.of(list(karat.read(GOLDEN / "synthetic.corpus.jsonl"))[:40], name="bees")
    runs = [_run(name, documents) for name in ("alpha", "beta")]
    karat.write(documents, folder / "corpus.jsonl")
    for run in runs:
        karat.write(run, folder / f"{run.name}.jsonl")
    for task in TASKS:
        sheets = karat.annotation_sheets(documents, *runs, task=task, annotators=",".join(NAMES), sample=40)  # type: ignore[arg-type]
        sheets.save(folder / task)
    return folder


def _run(name: str, documents: karat.Corpus) -> karat.Run:
    ids = {each.id for each in documents}
    own = (each for each in karat.read_run(GOLDEN / f"synthetic.{name}.jsonl") if each.id in ids)
    return karat.Run.of(own, name=name)


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    found = Browser(tmp_path)
    yield found
    found.driver.quit()


def score(annotator: str, item: int) -> int:
    """What an annotator of these tests thinks of an item."""
    return (item + (NAMES.index(annotator) if item % 3 == 0 else 0)) % 5


def given(path: Path) -> dict[int, Any]:
    """The answers in a saved file."""
    return {int(item): record["answer"] for item, record in json.loads(path.read_text())["answers"].items()}


def answer_all(browser: Browser, page: Path, keys: list[str]) -> None:
    """Answers 40 items, with a reload, two tabs, and the browser closed and opened again in between."""
    driver = browser.open(page)
    press(driver, *keys[:10])
    driver.refresh()
    until(driver, START)
    assert count(driver) == "10 of 40 answered"
    tabs = [driver.current_window_handle]
    driver.switch_to.new_window("tab")
    browser.watch(driver)
    browser.open(page)
    tabs.append(driver.current_window_handle)
    for n in range(10, 20):  # an item in each tab by turns; the other tab sees it
        driver.switch_to.window(tabs[(n + 1) % 2])
        press(driver, *(["o"] if n > 10 else []), keys[n])
        for tab in tabs:
            driver.switch_to.window(tab)
            until(driver, f"return document.getElementById('count').textContent === '{n + 1} of 40 answered'")
    browser.again()
    driver = browser.open(page)
    assert count(driver) == "20 of 40 answered"
    press(driver, *keys[20:])
    assert count(driver) == "40 of 40 answered"
    assert one(driver, "#done").is_displayed()


def test_four_annotators_lose_no_answer_and_double_none_and_people_are_measured(
    studies: Path, browser: Browser
) -> None:
    study = load_study(studies / "set")
    files, expected = [], {}
    for name in NAMES:
        order = study.annotators[name]
        answer_all(browser, studies / "set" / f"{name}.html", [str(score(name, item)) for item in order])
        files.append(browser.saved(f"{name}-{study.id}.json"))
        expected[name] = {item: score(name, item) for item in order}
        assert given(files[-1]) == expected[name]
        assert browser.driver.execute_script("return window.seen") == []
    found = karat.collect_annotations(studies / "set", *files)
    assert [(row["annotator"], row["answered"]) for row in found.rows()] == [(name, 40) for name in NAMES]
    scores = studies / "scores.jsonl"
    found.save(scores)
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    assert len(lines) == 160
    of_item = {(item.document, item.systems[0]): item.id for item in study.items}
    said = {(of_item[line["id"], line["system"]], line["annotator"]): line["score"] for line in lines}
    assert said == {(item, name): value for name, own in expected.items() for item, value in own.items()}
    inputs = {"corpus": studies / "corpus.jsonl", "runs": [studies / "alpha.jsonl", studies / "beta.jsonl"]}
    people = karat.human(scores, **inputs, metrics=["f1@M"], resamples=50, level_of_scale="ordinal")
    assert people.as_dict()["agreement"]["alpha"] == pytest.approx(found.agreement()["alpha"])
    page = karat.report(inputs["corpus"], *inputs["runs"], human=scores, resamples=50).html()
    assert "people (ceiling)" in page

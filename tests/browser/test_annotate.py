"""Sheets of annotators in a real browser, opened from disk: answers are kept, whatever happens to tab and browser."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.annotation.study import load_study
from karat.inert import inert
from tests.browser.conftest import FLAGS, WATCH, one, texts, until
from tests.output.nasty import HOSTILE_CORPUS, HOSTILE_RUNS, hostile_folder
from tests.waiting import PATIENCE
from tests.waiting import until as wait

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = ("ana", "ben", "cem", "dov")
TASKS: tuple[Any, ...] = ("set", "pair", "phrase", "reference")
SCALES: dict[str, Any] = {"set": {"scale": "0-4"}, "pair": {"scale": "0-1"}}
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

    def kill(self) -> None:
        """Ends the browser as a crash does, and opens it again."""
        os.kill(self.driver.capabilities["goog:processID"], signal.SIGKILL)
        self.driver.quit()
        for lock in self.profile.glob("Singleton*"):  # which say that the killed one has the profile
            lock.unlink()
        self.driver = self._start()

    def saved(self, name: str) -> Path:
        """The file that the page saves."""
        path = self.downloads / name
        path.unlink(missing_ok=True)
        press(self.driver, "s")
        wait(lambda: path.exists() and path.stat().st_size > 0, f"{name} is saved")  # it is put over an empty one
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
        own = SCALES.get(task, {})
        sheets = karat.annotation_sheets(documents, *runs, task=task, annotators=",".join(NAMES), sample=40, **own)
        sheets.save(folder / task)
    return folder


def _run(name: str, documents: karat.Corpus) -> karat.Run:
    ids = {each.id for each in documents}
    own = (each for each in karat.read_run(GOLDEN / f"synthetic.{name}.jsonl") if each.id in ids)
    return karat.Run.of(own, name=name)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.driver.quit()


@pytest.fixture
def browser(started: Browser, studies: Path) -> Iterator[Browser]:
    """The browser with one tab, which keeps nothing of the tests before."""
    forget(started.open(studies / "set" / "ana.html"))
    yield started
    first, *others = started.driver.window_handles
    for each in others:
        started.driver.switch_to.window(each)
        started.driver.close()
    started.driver.switch_to.window(first)


# What is done with the records that survive a crash, and how many there are then.
RECORDS = """
const [act, done] = arguments;
const request = indexedDB.open('karat-annotation', 1);
request.onsuccess = () => {
  const records = request.result.transaction('records', 'readwrite').objectStore('records');
  if (act === 'clear') records.clear();
  const count = records.count();
  count.onsuccess = () => { request.result.close(); done(count.result); };
};
"""


def forget(driver: Any) -> None:
    """Removes all answers from a browser."""
    driver.execute_script("localStorage.clear()")
    assert driver.execute_async_script(RECORDS, "clear") == 0


def score(annotator: str, item: int) -> int:
    """What an annotator of these tests thinks of an item."""
    return (item + (NAMES.index(annotator) if item % 3 == 0 else 0)) % 5


def given(path: Path) -> dict[int, Any]:
    """The answers in a saved file."""
    return {int(item): record["answer"] for item, record in json.loads(path.read_text())["answers"].items()}


def half_answered(browser: Browser, page: Path, keys: list[str]) -> None:
    """Answers half of 40 items, with a reload, and in two tabs."""
    driver = browser.open(page)
    press(driver, *keys[:14])
    driver.refresh()
    until(driver, START)
    assert count(driver) == "14 of 40 answered"
    tabs = [driver.current_window_handle]
    driver.switch_to.new_window("tab")
    browser.watch(driver)
    browser.open(page)
    tabs.append(driver.current_window_handle)
    for n in range(14, 20):  # an item in each tab by turns; the other tab sees it
        driver.switch_to.window(tabs[(n + 1) % 2])
        press(driver, *(["o"] if n > 14 else []), keys[n])
        for tab in tabs:
            driver.switch_to.window(tab)
            until(driver, f"return document.getElementById('count').textContent === '{n + 1} of 40 answered'")
    driver.close()
    driver.switch_to.window(tabs[0])


def test_four_annotators_lose_no_answer_and_double_none_and_people_are_measured(
    studies: Path, browser: Browser
) -> None:
    study = load_study(studies / "set")
    expected = {name: {item: score(name, item) for item in study.annotators[name]} for name in NAMES}
    pages = {name: studies / "set" / f"{name}.html" for name in NAMES}
    for name in NAMES:
        half_answered(browser, pages[name], list(map(str, expected[name].values())))
    browser.again()
    files = []
    for name in NAMES:
        driver = browser.open(pages[name])
        assert count(driver) == "20 of 40 answered"
        press(driver, *list(map(str, expected[name].values()))[20:])
        assert count(driver) == "40 of 40 answered"
        assert one(driver, "#done").is_displayed()
        files.append(browser.saved(f"{name}-{study.id}.json"))
        assert given(files[-1]) == expected[name]
        assert driver.execute_script("return window.seen") == []
    found = karat.collect_annotations(studies / "set", *files)
    assert [(row["annotator"], row["answered"]) for row in found.rows()] == [(name, 40) for name in NAMES]
    scores = studies / "scores.jsonl"
    found.save(scores)
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    assert len(lines) == 160
    of_item = {(item.document, item.systems[0]): item.id for item in study.items}
    said = {(of_item[line["id"], line["system"]], line["annotator"]): line["score"] for line in lines}
    assert said == {(item, name): value for name, own in expected.items() for item, value in own.items()}
    inputs: dict[str, Any] = {
        "corpus": studies / "corpus.jsonl",
        "runs": [studies / "alpha.jsonl", studies / "beta.jsonl"],
    }
    people = karat.human(scores, **inputs, metrics=["f1@M"], level_of_scale="ordinal")
    assert people.as_dict()["agreement"]["alpha"] == pytest.approx(found.agreement()["alpha"])
    page = karat.report(inputs["corpus"], *inputs["runs"], human=scores, resamples=50).html()
    assert "Correlation with the scores of people" in page


def test_a_browser_that_is_killed_has_lost_no_answer(studies: Path, browser: Browser) -> None:
    study = load_study(studies / "phrase")
    driver = browser.open(studies / "phrase" / "ben.html")
    press(driver, *"yny")
    wait(lambda: driver.execute_async_script(RECORDS, "count") == 3, "the answers are on the disk")
    browser.kill()
    driver = browser.open(studies / "phrase" / "ben.html")
    assert count(driver) == "3 of 40 answered"
    expected = dict(zip(study.annotators["ben"][:3], (1, 0, 1), strict=True))
    assert given(browser.saved(f"ben-{study.id}.json")) == expected


def test_undo_takes_back_the_last_answers_and_comments_stay(studies: Path, browser: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    study = load_study(studies / "set")
    first, second = study.annotators["ana"][:2]
    driver = browser.open(studies / "set" / "ana.html")
    press(driver, "3", "4", Keys.ARROW_LEFT, "c")
    press(driver, *"s4 u", Keys.ESCAPE)  # in a comment, keys are letters
    assert one(driver, "#which").text == "Item 2 of 40"
    press(driver, "u")
    assert count(driver) == "1 of 40 answered"
    press(driver, "u", "u")  # the third has nothing to undo
    assert count(driver) == "0 of 40 answered"
    assert one(driver, "#which").text == "Item 1 of 40"
    saved = json.loads(browser.saved(f"ana-{study.id}.json").read_text())["answers"]
    assert {int(n): (record["answer"], record["comment"]) for n, record in saved.items()} == {
        first: (None, ""),
        second: (None, "s4 u"),
    }
    assert all(record["seconds"] >= 0 and record["at"] > 0 for record in saved.values())
    driver.refresh()
    until(driver, START)
    press(driver, Keys.ARROW_RIGHT)
    assert one(driver, "#comment").get_attribute("value") == "s4 u"


def test_an_answer_of_another_tab_is_not_undone(studies: Path, browser: Browser) -> None:
    driver = browser.open(studies / "set" / "ben.html")
    press(driver, "3")
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    browser.open(studies / "set" / "ben.html")
    one(driver, "#back").click()
    press(driver, "1")
    driver.switch_to.window(first)
    press(driver, "u")
    assert one(driver, "#said").get_attribute("textContent") == "Item 1 was changed elsewhere; nothing undone"
    study = load_study(studies / "set")
    assert given(browser.saved(f"ben-{study.id}.json")) == {study.annotators["ben"][0]: 1}


def test_keyphrases_are_chosen_and_added_by_keys_alone(studies: Path, browser: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    study = load_study(studies / "reference")
    item = study.by_id[study.annotators["cem"][0]]
    driver = browser.open(studies / "reference" / "cem.html")
    assert texts(driver, "#candidates bdi") == list(item.predicted)
    press(driver, "1", "2", "1", "a")
    press(driver, "  honey   bees ", Keys.ENTER, item.predicted[2].upper(), Keys.ENTER, "Honey bees", Keys.ENTER)
    press(driver, Keys.ESCAPE)
    assert count(driver) == "0 of 40 answered"
    path = browser.saved(f"cem-{study.id}.json")
    assert given(path)[item.id] == {"chosen": [1, 2], "added": ["honey bees"], "done": False}
    press(driver, "d")
    assert count(driver) == "1 of 40 answered"
    assert one(driver, "#which").text == "Item 2 of 40"
    press(driver, "u", "u")  # it is done no more, and the last phrase was added already
    assert given(browser.saved(path.name))[item.id] == {"chosen": [1], "added": ["honey bees"], "done": False}


def test_a_saved_file_is_loaded_on_another_device_and_the_newest_answers_stay(
    studies: Path, browser: Browser, tmp_path: Path
) -> None:
    study = load_study(studies / "phrase")
    order = study.annotators["dov"]
    driver = browser.open(studies / "phrase" / "dov.html")
    press(driver, *"yny")
    path = browser.saved(f"dov-{study.id}.json")
    older = tmp_path / "older.json"
    older.write_text(path.read_text())
    forget(driver)  # as another device, which has no answers
    driver.refresh()
    until(driver, START)
    press(driver, "n")  # newer than the answer in the file
    one(driver, "#file").send_keys(str(older))
    until(driver, "return document.getElementById('count').textContent === '3 of 40 answered'")
    assert one(driver, "#kept").text == "2 answers taken from the file; 1 here were as new or newer."
    assert given(browser.saved(path.name)) == {order[0]: 0, order[1]: 0, order[2]: 1}

    content = json.loads(older.read_text())
    record = content["answers"][str(order[0])]
    wrong = {
        "another study": content | {"study": "0123456789abcdef"},
        "another annotator": content | {"annotator": "ana"},
        "damaged, or was edited": content | {"answers": {str(order[0]): record | {"answer": 7}}},
        "is of another annotator": content | {"token": "0" * 32},
        "not a file that a sheet": [content],
    }
    for words, changed in wrong.items():
        older.write_text(json.dumps(changed))
        one(driver, "#file").send_keys(str(older))
        until(driver, f"return document.getElementById('warning').textContent.includes('{words}')")
        assert one(driver, "#warning").text.endswith("nothing was changed.")
        assert count(driver) == "3 of 40 answered"


def test_a_browser_that_keeps_nothing_says_so_and_the_file_has_all(studies: Path, browser: Browser) -> None:
    source = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    added = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    study = load_study(studies / "set")
    driver = browser.open(studies / "set" / "cem.html")
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    press(driver, *"321")
    assert count(driver) == "3 of 40 answered"
    assert "This browser does not keep the answers" in one(driver, "#warning").text
    expected = dict(zip(study.annotators["cem"][:3], (3, 2, 1), strict=True))
    assert given(browser.saved(f"cem-{study.id}.json")) == expected


def test_text_from_files_is_inert_on_a_sheet(tmp_path: Path, browser: Browser) -> None:
    hostile_folder(tmp_path)
    corpus, *runs = (str(tmp_path / f"{name}.jsonl") for name in (HOSTILE_CORPUS, *HOSTILE_RUNS))
    for task in TASKS:
        sheets = karat.annotation_sheets(corpus, *runs, task=task, annotators=1, **SCALES.get(task, {}))
        sheets.save(tmp_path / task)
        driver = browser.open(tmp_path / task / "a1.html")
        for _ in range(len(sheets.study.items)):
            press(driver, "o" if task == "reference" else {"set": "3", "pair": "x", "phrase": "y"}[task])
        assert driver.execute_script("return window.seen") == []
        assert driver.execute_script("return document.querySelectorAll('article :is(script, img, a, b)').length") == 0
        assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
        item = sheets.study.by_id[sheets.study.annotators["a1"][0]]
        driver.execute_script("document.querySelector('#all button').click()")
        shown = driver.execute_script("return document.getElementById('item').textContent")
        for phrase in (*item.predicted, *item.references, item.phrase, item.reference):
            assert inert(phrase) in shown
        assert driver.get_log("browser") == []


def test_the_policy_stops_what_is_not_the_sheet_s_own(studies: Path, browser: Browser) -> None:
    driver = browser.open(studies / "set" / "ana.html")
    driver.execute_script("document.body.append(Object.assign(document.createElement('img'), {src: 'data:,x'}))")
    driver.execute_script("document.querySelector('h1').setAttribute('style', 'color: red')")
    until(driver, "return window.seen.length >= 2")
    assert sorted(set(driver.execute_script("return window.seen"))) == ["img-src", "style-src-attr"]


@pytest.mark.npm
def test_axe_finds_no_fault_on_sheets_and_nothing_is_wider_than_a_phone(
    studies: Path,
    browser: Browser,
    axe: str,
) -> None:
    for task in TASKS:
        for width, theme in ((400, "light"), (400, "dark"), (1280, "light"), (1280, "dark")):
            driver = browser.open(studies / task / "ana.html", width, theme)
            press(driver, "1" if task == "reference" else "y" if task == "phrase" else "3")
            driver.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert driver.execute_script("return document.documentElement.scrollWidth") == width
            driver.execute_script(axe)
            script = "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
            faults = driver.execute_async_script(script)
            assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in faults] == []

"""The page in a real browser, opened from disk: its script, its policy, who cannot see it, who has no script."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import karat
from tests.output.nasty import LONG, NASTY, corpus, runs
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).parents[1] / "golden"
SYNTHETIC = [str(GOLDEN / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta")]
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


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nasty") / "page.html"
    named = [karat.Run(f"{run.name}/{'x' * 80}", run.batches) for run in runs()]
    karat.report(corpus(), *named, resamples=50).save(path)
    return path


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synthetic") / "page.html"
    karat.report(*SYNTHETIC, resamples=200).save(path)
    return path


@pytest.fixture(scope="module")
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


def texts(found: Any, selector: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    return list(found.execute_script(script, selector))


def choose(found: Any, name: str, value: str) -> None:
    """Chooses an option of the field that is named so, as a person does."""
    from selenium.webdriver.support.ui import Select

    field = found.find_element("xpath", f"//div[@class='controls']//label[starts-with(., '{name}')]/select")
    Select(field).select_by_visible_text(value)


def test_the_page_opens_from_disk_and_does_nothing_that_it_may_not(nasty: Path, synthetic: Path, opened: Open) -> None:
    for path in (nasty, synthetic):
        found = opened(path)
        assert found.execute_script("return window.seen") == []
        assert found.get_log("browser") == []
        assert found.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_the_policy_stops_what_is_not_the_page_s_own(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    found.execute_script("document.body.append(Object.assign(document.createElement('img'), {src: 'data:,x'}))")
    found.execute_script("document.querySelector('h1').setAttribute('style', 'color: red')")
    until(found, "return window.seen.length >= 2")
    assert sorted(set(found.execute_script("return window.seen"))) == ["img-src", "style-src-attr"]


def test_a_table_is_sorted_by_click_and_by_key(synthetic: Path, opened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    found = opened(synthetic)
    rows = "#scores .has-intervals tbody th"
    given = texts(found, rows)
    button = one(found, "#scores .has-intervals thead th:nth-child(2) button")
    values = []
    for press in (button.click, lambda: button.send_keys(Keys.ENTER), lambda: button.send_keys(Keys.SPACE)):
        press()
        head = one(found, "#scores .has-intervals thead th:nth-child(2)")
        values.append((head.get_attribute("aria-sort"), texts(found, rows)))
    ranked = [karat.score(*SYNTHETIC, metrics=["f1@5:present"]).rows()[i] for i in (0, 1)]
    best = [row["system"] for row in sorted(ranked, key=lambda row: -float(row["value"]))]
    assert values == [("descending", best), ("ascending", best[::-1]), (None, given)]


def test_an_interval_is_shown_on_hover_by_key_and_for_all_at_once(synthetic: Path, opened: Open) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    found = opened(synthetic)
    shown = "const r = arguments[0].getBoundingClientRect(); return r.width > 20 && r.height > 8"
    cells = found.find_elements("css selector", "#scores .has-intervals tbody td.n")
    intervals = [cell.find_element("css selector", ".interval") for cell in cells]
    assert not any(found.execute_script(shown, each) for each in intervals)
    ActionChains(found).move_to_element(cells[0]).perform()
    assert found.execute_script(shown, intervals[0])
    found.execute_script("arguments[0].focus()", cells[0])
    cells[0].send_keys(Keys.ARROW_RIGHT)
    assert found.execute_script("return document.activeElement === arguments[0]", cells[1])
    assert found.execute_script(shown, intervals[1])
    one(found, "#scores .show-intervals").click()
    assert all(found.execute_script(shown, each) for each in intervals)


def test_documents_are_searched_filtered_and_sorted(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    assert one(found, ".status").text == "400 documents"
    assert len(texts(found, ".row")) < 40  # only what can be seen is there
    scores = [float(text) for text in texts(found, ".row .score")]
    assert scores == sorted(scores)
    choose(found, "Order", "as in the corpus")
    until(found, "return document.querySelector('.row .who').textContent === 's000'")
    ids = [document.id for document in karat.read(SYNTHETIC[0])]
    assert texts(found, ".row .who")[:3] == ids[:3]
    search = one(found, "input[type=search]")
    search.send_keys("S017")
    until(found, "return document.querySelector('.status').textContent === '1 document found'")
    assert texts(found, ".row .who") == ["s017"]
    search.clear()
    needle = "We compress"  # it stands in texts alone
    wanted = [str(each.id) for each in karat.read(SYNTHETIC[0]) if needle.lower() in (each.text or "")]
    search.send_keys(needle)
    until(found, f"return document.querySelector('.status').textContent === '{len(wanted)} documents found'")
    assert texts(found, ".row .who") == wanted[: len(texts(found, ".row"))]
    search.clear()
    search.send_keys(" ")
    until(found, "return document.querySelector('.status').textContent === '400 documents'")
    choose(found, "Missed references", "unseen (U)")
    until(found, "return / of 400$/.test(document.querySelector('.status').textContent)")
    few = int(one(found, ".status").text.split()[0])
    assert 0 < few < 400
    choose(found, "Missed in the part", "last fifth")
    until(found, f"return parseInt(document.querySelector('.status').textContent) < {few}")


def test_the_largest_disagreement_comes_first(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    choose(found, "Order", "largest disagreement first")
    until(found, "return document.querySelectorAll('.row').length > 3")
    results = karat.score(*SYNTHETIC, metrics=["f1@M"])
    one_, two = (score.per_document() for score in results.scores)
    apart = {name: round(abs(a - b), 3) for name, a, b in zip(results.ids, one_, two, strict=True) if a == a and b == b}
    assert [apart[name] for name in texts(found, ".row .who")] == sorted(apart.values(), reverse=True)[
        : len(texts(found, ".row"))
    ]


def test_keys_lead_from_document_to_document_and_the_address_follows(synthetic: Path, opened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    found = opened(synthetic)
    choose(found, "Order", "as in the corpus")
    one(found, ".row").click()
    until(found, "return location.hash === '#doc/synthetic.corpus/s000'")
    body = one(found, "body")
    for key, name in (("j", "s001"), ("j", "s002"), ("k", "s001")):
        body.send_keys(key)
        until(found, f"return location.hash.endsWith('{name}')")
    one(found, ".rows").send_keys(Keys.ARROW_DOWN)
    until(found, "return document.querySelector('.view .id').textContent === 'Document s002'")
    one(found, ".rows").send_keys(Keys.END)
    until(found, "return document.querySelector('.view .id').textContent === 'Document s399'")
    assert texts(found, ".row[aria-selected=true] .who") == ["s399"]
    again = opened(synthetic, address="#doc/synthetic.corpus/s017")
    until(again, "return document.querySelector('.view .id').textContent === 'Document s017'")


def test_one_system_s_marks_are_shown_when_it_is_chosen(nasty: Path, opened: Open) -> None:
    found = opened(nasty)
    choose(found, "Order", "as in the corpus")
    one(found, ".row").click()
    until(found, "return document.querySelector('.view .id').textContent.startsWith('Document d/1')")
    states = "[...document.querySelectorAll('.view .columns div:first-child .sign')].map((e) => e.className)"
    assert found.execute_script(f"return {states}") == [
        f"sign {s}" for s in ("found", "near", "missed", "found", "missed")
    ]
    choose(found, "System", f"two/{'x' * 56}")
    until(found, f"return {states}[1] === 'sign missed'")
    assert texts(found, ".view .text mark.found") == ["Honey bees"]
    assert texts(found, ".view .text mark.missed") == ["load balancing"]


def test_text_that_tries_to_be_markup_is_shown_as_text(nasty: Path, opened: Open) -> None:
    found = opened(nasty)
    choose(found, "Order", "as in the corpus")
    one(found, ".row").click()
    until(found, "return document.querySelector('.view .id').textContent.startsWith('Document d/1')")
    whole = one(found, ".view").get_attribute("textContent")
    for text in NASTY:
        assert text in whole
    one(found, "body").send_keys("j")
    until(found, "return document.querySelector('.view .id').textContent === 'Document d2'")
    assert LONG[160:] in one(found, ".view").get_attribute("textContent")
    assert found.execute_script("return document.querySelectorAll('img, main script, textarea').length") == 0
    assert found.execute_script("return window.seen") == []


def test_nothing_is_wider_than_a_telephone(nasty: Path, synthetic: Path, opened: Open) -> None:
    for path in (nasty, synthetic):
        for width in (400, 1280, 1920):
            found = opened(path, width=width)
            assert found.execute_script("return document.documentElement.scrollWidth") == width


def test_light_and_dark_follow_the_system_and_the_switch(synthetic: Path, opened: Open) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    found = opened(synthetic, theme="dark")
    found.execute_script("localStorage.clear()")
    dark = opened(synthetic, theme="dark").execute_script(ground)
    light = opened(synthetic).execute_script(ground)
    assert dark != light
    one(found, "#theme").click()
    assert found.execute_script(ground) == dark
    found.execute_script("localStorage.clear()")


def test_without_scripts_the_worst_documents_stand_there(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic, scripts=False)
    articles = found.find_elements("css selector", "#without-script article")
    assert len(articles) == 20
    assert articles[0].is_displayed()
    assert not one(found, "#browser").is_displayed()
    assert found.find_element("css selector", "#scores table").is_displayed()
    assert found.find_element("css selector", "figure svg").is_displayed()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, fetched by npm for these tests alone."""
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "pack", "--silent", "axe-core"], cwd=folder, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        source = packed.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


@pytest.mark.npm
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_serious_fault(
    theme: str, width: int, nasty: Path, synthetic: Path, axe: str, opened: Open
) -> None:
    for path in (nasty, synthetic):
        found = opened(path, width=width, theme=theme)
        found.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        found.execute_script(axe)
        script = "const done = arguments[0]; axe.run(document).then((found) => done(found.violations))"
        faults = found.execute_async_script(script)
        told = [
            (fault["id"], fault["impact"], [node["html"][:200] for node in fault["nodes"][:3]])
            for fault in faults
            if fault["impact"] in ("serious", "critical")
        ]
        assert told == []

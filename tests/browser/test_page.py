"""The page in a real browser, opened from disk: its script, its policy, who cannot see it, who has no script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.inert import inert, neutral
from tests.browser.conftest import Open, choose, click, faults_of, one, texts, until
from tests.output.nasty import ATTACKS, HOSTILE_CORPUS, HOSTILE_RUNS, LONG, NASTY, corpus, hostile_folder, runs

pytestmark = pytest.mark.browser

GOLDEN = Path(__file__).parents[1] / "golden"
SYNTHETIC = [str(GOLDEN / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta")]


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nasty") / "page.html"
    named = [karat.Run(f"{run.name}/{'x' * 80}", run.batches) for run in runs()]
    karat.report(corpus(), *named, resamples=50).save(path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of which every name and every text tries to act; its own name does, too."""
    folder = tmp_path_factory.mktemp("hostile")
    hostile_folder(folder)
    path = folder / f"{HOSTILE_CORPUS}.html"
    names = [f"{name}.jsonl" for name in (HOSTILE_CORPUS, *HOSTILE_RUNS)]
    karat.report(*(str(folder / name) for name in names), resamples=50).save(path)
    return path


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("synthetic") / "page.html"
    karat.report(*SYNTHETIC, resamples=200).save(path)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of twenty systems."""
    path = tmp_path_factory.mktemp("many") / "page.html"
    lists = [(each.id, list(each.keyphrases or ())) for each in karat.read_run(SYNTHETIC[1])][:60]
    documents = list(karat.read(SYNTHETIC[0]))[:60]
    systems = [
        karat.Run.of(({"id": i, "keyphrases": own[n % 4 :]} for i, own in lists), name=f"system {n}") for n in range(20)
    ]
    karat.report(karat.Corpus.of(documents, name="many"), *systems, resamples=50).save(path)
    return path


def test_the_page_opens_from_disk_and_does_nothing_that_it_may_not(
    nasty: Path, hostile: Path, synthetic: Path, opened: Open
) -> None:
    for path in (nasty, hostile, synthetic):
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
    choose(found, "Order", "worst first")
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
    click(found, ".row")
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
    click(found, ".row")
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
    click(found, ".row")
    until(found, "return document.querySelector('.view .id').textContent.startsWith('Document d/1')")
    whole = one(found, ".view").get_attribute("textContent")
    for text in NASTY:
        assert inert(text) in whole
    one(found, "body").send_keys("j")
    until(found, "return document.querySelector('.view .id').textContent === 'Document d2'")
    assert LONG[160:] in one(found, ".view").get_attribute("textContent")
    assert found.execute_script("return document.querySelectorAll('img, main script, textarea').length") == 0
    assert found.execute_script("return window.seen") == []


def test_every_document_that_tries_to_act_is_shown_and_nothing_acts(hostile: Path, opened: Open) -> None:
    found = opened(hostile)
    choose(found, "Order", "as in the corpus")
    click(found, ".row")
    for number, attack in enumerate(ATTACKS.values()):
        id = inert(f"{attack} {number}" if attack.startswith("long") else attack)
        until(found, f"return document.querySelector('.view .id').textContent === {json.dumps('Document ' + id)}")
        shown = one(found, ".view .text").get_attribute("textContent")
        assert shown.startswith(neutral(attack).replace("\r", " "))
        assert not set(shown) & set("\x00\x1b\x9b\x07\u202a\u202e\u2066\u2069\u2028")
        one(found, "body").send_keys("j")
    assert found.execute_script("return document.querySelectorAll('img, main script, textarea, main b b').length") == 0
    assert found.execute_script("return window.seen") == []
    assert found.get_log("browser") == []
    assert found.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_nothing_is_wider_than_a_telephone(nasty: Path, synthetic: Path, opened: Open) -> None:
    for path in (nasty, synthetic):
        for width in (400, 1280, 1920):
            found = opened(path, width=width)
            assert found.execute_script("return document.documentElement.scrollWidth") == width


def test_every_system_of_a_document_is_seen_at_every_width(many: Path, opened: Open) -> None:
    inside = """
        const edge = document.documentElement.clientWidth;
        return [...document.querySelectorAll('.view .columns h4')].map((each) => {
          const box = each.getBoundingClientRect();
          return box.left >= 0 && box.right <= edge && box.width > 60;
        })
    """
    for width in (400, 1280, 1920):
        found = opened(many, width=width)
        assert found.execute_script(inside) == [True] * 21  # of the references and of twenty systems


def test_charts_are_drawn_for_the_width_of_their_card(synthetic: Path, opened: Open) -> None:
    drawn = """
        const seen = [...document.querySelectorAll('figure svg:not(.symbol)')].filter((each) => each.checkVisibility());
        return seen.map((each) => {
          const room = each.parentElement.parentElement.clientWidth;
          const written = [...each.querySelectorAll('text')].filter((text) => text.textContent);
          const sizes = written.map((text) => parseFloat(text.getAttribute('font-size')) * text.getScreenCTM().a || 99);
          return [each.getBoundingClientRect().width / room, Math.min(...sizes), each.parentElement.className];
        })
    """
    for width, kind in ((400, "narrow"), (1280, "wide"), (1920, "wide")):
        found = opened(synthetic, width=width).execute_script(drawn)
        assert len(found) >= 8
        for share, letters, name in found:
            assert name == kind
            assert share > 0.9  # the rest is the padding of the card
            assert letters > 10  # pixels of a line


def test_a_point_tells_its_value_and_a_system_has_one_colour_everywhere(many: Path, opened: Open) -> None:
    found = opened(many)
    told = texts(found, "#scores figure .wide svg title")
    assert any(text.startswith("system 3: .") for text in told)
    colours = """
        const found = {};
        for (const title of document.querySelectorAll('figure .wide svg path > title, figure .wide svg rect > title')) {
          const name = title.textContent.match(/^system [0-9]+(?=[:,])/);
          const fill = title.parentElement.getAttribute('fill');
          const system = fill && fill !== 'none' && fill !== '#767676'; // ticks of other protocols are grey
          if (name && system) (found[name[0]] ||= new Set()).add(fill);
        }
        return Object.entries(found).map(([name, own]) => [name, [...own]])
    """
    seen = dict(found.execute_script(colours))
    assert len(seen) == 20
    beside = dict(zip(texts(found, "#scores .has-intervals tbody th"), symbols(found), strict=True))
    assert {name: own for name, own in seen.items() if own != [beside[name]]} == {}


def symbols(found: Any) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.getAttribute('fill'))"
    return list(found.execute_script(script, "#scores .has-intervals tbody th .symbol path"))


def test_a_mistake_leads_to_its_documents(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    [part] = karat.report(*SYNTHETIC, resamples=9).parts
    wanted = part.mistakes[part.systems.index("synthetic.alpha")].missed[0]
    link = "#mistakes details[open] .lists > div:nth-child(2) a"
    told = found.execute_script("return document.querySelector(arguments[0]).dataset.told", link)
    assert told == f"synthetic.alpha misses “{wanted.phrase}”"
    one(found, link).click()
    count = f"{wanted.count} document{'' if wanted.count == 1 else 's'} of 400"
    until(found, f"return document.querySelector('.status').textContent === '{count}'")
    ids = [str(document.id) for document in karat.read(SYNTHETIC[0])]
    assert set(texts(found, ".row .who")) == {ids[n] for n in wanted.documents}
    assert one(found, ".only span").text == told
    one(found, ".only button").click()
    until(found, "return document.querySelector('.status').textContent === '400 documents'")
    assert not one(found, ".only").is_displayed()


def test_the_most_instructive_documents_come_first(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    [part] = karat.report(*SYNTHETIC, resamples=9).parts
    assert part.browser is not None
    ids = [part.browser.entries[n].id for n in part.browser.instructive]
    shown = texts(found, ".row .who")
    assert shown == ids[: len(shown)]


def test_in_print_the_documents_list_and_controls_are_left_out(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    found.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    seen = "return document.querySelector(arguments[0]).checkVisibility()"
    for selector in ("nav", ".controls", ".list", "figure .narrow", "#theme"):
        assert not found.execute_script(seen, selector), selector
    for selector in ("figure .wide", ".view article", "#scores table", "#mistakes .lists"):
        assert found.execute_script(seen, selector), selector
    found.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


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


def test_without_scripts_the_most_instructive_documents_stand_there(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic, scripts=False)
    articles = found.find_elements("css selector", "#without-script article")
    assert len(articles) == 20
    assert articles[0].is_displayed()
    assert not one(found, "#browser").is_displayed()
    assert found.find_element("css selector", "#scores table").is_displayed()
    assert found.find_element("css selector", "figure svg").is_displayed()


@pytest.mark.npm
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_finds_no_fault(theme: str, width: int, nasty: Path, synthetic: Path, axe: str, opened: Open) -> None:
    for path in (nasty, synthetic):
        found = opened(path, width=width, theme=theme)
        assert faults_of(found, axe) == []


def test_a_filtered_list_has_an_address_and_is_as_it_was_when_the_page_is_loaded_again(
    synthetic: Path, opened: Open
) -> None:
    found = opened(synthetic)
    assert not one(found, ".link").is_displayed()
    choose(found, "System", "synthetic.beta")
    choose(found, "Order", "worst first")
    choose(found, "Missed references", "unseen (U)")
    until(found, "return / of 400$/.test(document.querySelector('.status').textContent)")
    listed, told = texts(found, ".row .who"), one(found, ".status").text
    address = found.execute_script("return document.querySelector('.link').hash")
    assert address.startswith("#list/synthetic.corpus/")
    click(found, ".row")
    until(found, "return location.hash.startsWith('#doc/')")
    found.refresh()
    until(found, "return document.querySelector('.view article') !== null")
    assert (texts(found, ".row .who"), one(found, ".status").text) == (listed, told)
    again = opened(synthetic)
    assert one(again, ".status").text == "400 documents"
    again = opened(synthetic, address=address)
    assert (texts(again, ".row .who"), one(again, ".status").text) == (listed, told)
    shown = (
        "return [...document.querySelectorAll('.controls select')].map((each) => each.selectedOptions[0].textContent)"
    )
    assert {"synthetic.beta", "worst first", "unseen (U)"} <= set(again.execute_script(shown))


def test_the_address_of_a_search_and_of_the_documents_of_a_number_lead_there(synthetic: Path, opened: Open) -> None:
    found = opened(synthetic)
    one(found, "input[type=search]").send_keys("We compress")
    until(found, "return / found$/.test(document.querySelector('.status').textContent)")
    told, address = one(found, ".status").text, found.execute_script("return document.querySelector('.link').hash")
    again = opened(synthetic, address=address)
    until(again, f"return document.querySelector('.status').textContent === '{told}'")
    one(again, "#mistakes a.leads").click()
    until(again, "return / of 400$/.test(document.querySelector('.status').textContent)")
    told, address = one(again, ".status").text, again.execute_script("return document.querySelector('.link').hash")
    where = one(again, ".only span").text
    once_more = opened(synthetic, address=address)
    assert (one(once_more, ".status").text, one(once_more, ".only span").text) == (told, where)


def test_an_address_that_is_none_of_the_page_s_own_changes_nothing(synthetic: Path, opened: Open) -> None:
    for address in (
        "#list/other/x",
        "#list/synthetic.corpus/order%3Dnone%26system%3Dnobody%26led%3D99999",
        "#list/%zz/a",
    ):
        found = opened(synthetic, address=address)
        assert one(found, ".status").text == "400 documents"
        assert found.execute_script("return window.seen") == []


def test_a_key_shows_all_keys_and_another_leads_to_the_search(synthetic: Path, opened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    found = opened(synthetic)
    panel = one(found, "dialog.keys")
    assert not panel.is_displayed()
    one(found, "body").send_keys("?")
    until(found, "return document.querySelector('dialog.keys').open")
    assert "next document" in panel.text
    panel.send_keys(Keys.ESCAPE)
    until(found, "return !document.querySelector('dialog.keys').open")
    one(found, "body").send_keys("/")
    until(found, "return document.activeElement === document.querySelector('input[type=search]')")
    assert one(found, "input[type=search]").get_attribute("value") == ""
    found.execute_script("document.activeElement.blur()")
    found.find_element("xpath", "//button[starts-with(., 'Keys')]").click()
    until(found, "return document.querySelector('dialog.keys').open")


@pytest.mark.npm
def test_axe_finds_no_fault_in_the_keys_and_a_filtered_list(synthetic: Path, axe: str, opened: Open) -> None:
    found = opened(synthetic)
    choose(found, "Order", "worst first")
    one(found, "body").send_keys("?")
    until(found, "return document.querySelector('dialog.keys').open")
    assert faults_of(found, axe) == []

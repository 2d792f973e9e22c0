"""The page: what it says, that text stays text, that it needs nothing but itself; the browser lane tries its script."""

from __future__ import annotations

import json
import re
import subprocess
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.analyses.report.documents import entries
from karat.analyses.report.result import Page
from karat.errors import InputError
from karat.inert import neutral
from karat.matching.align import align, prepare
from karat.matching.inputs import as_protocols
from karat.matching.join import Join, chunks
from karat.output.page.packing import pack
from karat.output.page.sections import left_out, sections
from karat.output.page.words import summary
from tests.forked import program
from tests.output.nasty import BEE, HEBREW, IMAGE, LONG, NASTY, SCRIPT, corpus, runs

GOLDEN = Path(__file__).parents[1] / "golden"
SYNTHETIC = [str(GOLDEN / f"synthetic.{name}.jsonl") for name in ("corpus", "alpha", "beta")]
ONE, TWO = (run.name for run in runs())


class Read(HTMLParser):
    """The tags of a page with their attributes, and its text; what is in script and style is apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.blocks: list[tuple[str, str]] = []
        self.said: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] in ("script", "style"):
            self.blocks.append((self.inside[-1], data))
        else:
            self.said.append(data)

    @property
    def text(self) -> str:
        return "".join(self.said)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The paths of the corpus and of the runs, with names."""
    folder = tmp_path_factory.mktemp("nasty")
    karat.write(corpus(), folder / "nasty.jsonl")
    for number, run in enumerate(runs()):
        karat.write(run, folder / f"{number}.jsonl")
    named = [f"{run.name}={folder / f'{number}.jsonl'}" for number, run in enumerate(runs())]
    return [str(folder / "nasty.jsonl"), *named]


@pytest.fixture(scope="module")
def page(files: list[str]) -> Page:
    return karat.report(*files, resamples=50, title=f"Bees & {SCRIPT}")


@pytest.fixture(scope="module")
def html(page: Page) -> str:
    return page.html()


@pytest.fixture(scope="module")
def read(html: str) -> Read:
    return Read(html)


def unpacked(block: str) -> Any:
    return json.loads(zlib.decompress(b64decode(block), -15))


# ---------------------------------------------------------------------------------------------- the file


def test_the_command_writes_what_the_call_gives_to_the_last_byte(html: str, files: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*program(), "report", *files, "-o", "page.html", "--resamples", "50", "--title", f"Bees & {SCRIPT}"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert re.search(r"^page\.html: [\d.,]+ [kM]B$", done.stderr, re.MULTILINE)
    assert (tmp_path / "page.html").read_text() == html


def test_the_policy_allows_the_page_s_own_style_and_script_alone(read: Read) -> None:
    policy = next(a["content"] or "" for _, a in read.tags if a.get("http-equiv") == "Content-Security-Policy")
    plain = [a for tag, a in read.tags if tag == "script" and "type" not in a]
    own = [text for tag, text in read.blocks if tag == "style"] + [
        text for _, text in read.blocks if '"use strict"' in text
    ]
    assert len(plain) == 1
    assert len(own) == 2
    for text in own:
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


def test_nothing_is_fetched_and_nothing_is_styled_or_handled_in_place(read: Read) -> None:
    for tag, attributes in read.tags:
        assert tag not in ("img", "link", "iframe", "object", "embed", "form", "textarea"), tag
        for name, value in attributes.items():
            assert name != "style", (tag, value)
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "action", "srcdoc"), (tag, name)
            if name in ("href", "xlink:href"):
                assert (value or "").startswith("#"), (tag, value)
    assert re.findall(r"url\((?!#)", read.blocks[0][1]) == []


def test_text_of_files_stays_text(read: Read) -> None:
    assert [tag for tag, a in read.tags if tag == "script" and a.get("type") != "application/octet-stream"] == [
        "script"
    ]
    for nasty in NASTY:
        assert neutral(nasty) in read.text
    assert "\x00" not in read.text
    bdi = [tag for tag, _ in read.tags if tag == "bdi"]
    assert len(bdi) > 20


def test_a_phrase_of_ten_thousand_letters_is_shortened_with_the_rest_at_hand(read: Read) -> None:
    assert [a for tag, a in read.tags if tag == "details" and a.get("class") == "long"]
    assert LONG[160:] in read.text
    assert max(len(text) for text in read.said if "very very" in text) < len(LONG)


def test_ids_are_there_once_and_every_reference_to_one_holds(read: Read) -> None:
    ids = [a["id"] for _, a in read.tags if "id" in a]
    assert len(ids) == len(set(ids))
    named = {a[k] for _, a in read.tags for k in ("aria-labelledby",) if k in a}
    named |= {(a["href"] or "")[1:] for tag, a in read.tags if tag == "a"}
    assert named - set(ids) == set()


def test_without_a_script_tables_charts_and_documents_are_there(read: Read) -> None:
    drawn = [a for tag, a in read.tags if tag == "svg" and a.get("class") != "symbol"]
    assert len(drawn) >= 16  # each chart for wide and for narrow cards
    assert all(a.get("role") == "img" and a.get("aria-label") for a in drawn)
    assert all(a.get("aria-hidden") == "true" for tag, a in read.tags if tag == "svg" and a.get("class") == "symbol")
    assert len([a for tag, a in read.tags if tag == "article"]) == 4
    assert "Without them, the 20 most instructive ones" in read.text
    marks = {a["class"] for tag, a in read.tags if tag == "mark"}
    assert {"found predicted ends", "missed ends", "predicted"} <= marks


# ---------------------------------------------------------------------------------------------- what it says


def test_the_summary_has_the_figures_of_score_and_compare() -> None:
    results = karat.score(*SYNTHETIC)
    found = karat.report(results, resamples=200)
    first, figure, second, third, *_ = summary(found, found.parts[0])
    rows = [row for row in results.rows() if (row["metric"], row["subset"]) == ("f1@M", "all")]
    best = max(rows, key=lambda row: float(row["value"]))
    value = f"{best['value']:.4f}".removeprefix("0")
    assert first == f"{best['system']} is best."
    where = f"on the {best['documents']} documents of synthetic.corpus under the protocol karat"
    assert figure.startswith(f"Best is meant by f1@M of all phrases {where}: {value} (95 % interval ")
    pairs = karat.compare(results, resamples=200).pairs
    [pair] = [each for each in pairs if (each.request.label, each.request.subset) == ("f1@M", "all")]
    assert f"It is {abs(pair.apart.value):.4f}".replace(" 0.", " .") in second
    # None of 200 swaps is as far apart, so p is that of t, with fewer degrees of freedom than Student's.
    assert pair.apart.tests["randomisation"] == 1 / 201
    assert pair.apart.p == pytest.approx(pair.apart.tests["t"], rel=0.5)
    adjusted = "adjusted by step-down max-T over all pairs of systems on one metric and corpus (1 test each)"
    assert f"p ≈ {pair.apart.p:.0e}, paired randomisation, {adjusted}" in second
    least = f"{pair.apart.detectable:.4f}".removeprefix("0")
    assert third.startswith(f"With 80 % power a difference of {least} could have been detected on these 400 ")


def test_the_first_sentence_counts_what_becomes_of_the_phrases_of_a_document() -> None:
    found = karat.report(*SYNTHETIC, resamples=2000)
    [first, *_] = summary(found, found.parts[0])
    near = karat.nearmiss(*SYNTHETIC[:2])
    [counts] = near.found
    given, wrong = counts.predictions.given / 400, counts.predictions.unmatched / 400
    words = [f"{value:.1f}".removesuffix(".0") for value in (given, given - wrong, counts.predictions.near / 400)]
    assert first == (
        f"synthetic.alpha is best: of the {words[0]} phrases it gives for a document, {words[1]} are right and "
        f"{words[2]} almost."
    )


def test_a_system_that_is_not_shown_to_be_better_is_not_called_the_best() -> None:
    alpha = karat.read_run(SYNTHETIC[1])
    changed: list[Any] = [each if n else {"id": each.id, "keyphrases": []} for n, each in enumerate(alpha)]
    other = karat.Run.of(changed, name="other")
    found = karat.report(SYNTHETIC[0], alpha, other, resamples=500)
    [first, *_] = summary(found, found.parts[0])
    assert first.startswith("synthetic.alpha comes out first, but is not shown to be better than other: of the ")


def test_one_system_has_its_intervals_and_what_is_not_there_is_said_at_the_end() -> None:
    found = karat.report(corpus(), runs()[1], resamples=50)
    [first, figure, *_] = summary(found, found.parts[0])
    assert first.startswith("two has .")
    assert "interval" in figure
    why = dict(left_out(found))
    assert why["What systems share"] == "There is one system; it takes two to compare what they predict."
    assert "calibration" in why["Confidence"]
    anchors = [section.anchor for section in sections(found)]
    assert "scores" in anchors
    assert {"overlap", "homogeneity", "confidence", "human"}.isdisjoint(anchors)
    assert all(chart.spec is not None for s in sections(found) for _, b in s.blocks for chart in b.charts)
    said = Read(found.html()).text
    assert all(sentence[1:] in said for sentence in why.values())
    assert not re.search(r"(^|\s)--?[a-z]+", said)  # no flags of the command


def test_without_references_predictions_and_names_are_still_there() -> None:
    found = karat.report(corpus(references=False), *runs(), resamples=50)
    part = found.parts[0]
    assert found.comparison is None
    [first, why, described] = summary(found, part)
    # Of the first 7, 2, 0 and 1 phrases, of the second 2, 2, 1 and 1, without one that repeats another; one is of both.
    assert first == (
        "Two systems indexed 4 documents; of the 2 phrases that each gives for a document, they agree on 0.2."
    )
    assert why == "No document has references, so nothing says which system is right."
    assert described.startswith("Systems give 1.5 to 2.5 phrases for a document, ")
    assert dict(left_out(found))["Scores"] == "The documents have no references, so nothing can be scored."
    assert part.outcomes == ()
    assert all(not (own.wrong or own.missed or own.near) for own in part.mistakes)
    assert {"describe", "consistency"} <= set(part.found)
    assert part.browser is not None
    assert part.browser.request is None
    predictions = part.browser.entries[3].answers[0].predictions
    assert [(each.phrase, each.prmu) for each in predictions] == [("graph colouring", "P")]
    assert found.html().count("<article") == 4


def test_runs_may_predict_for_reformulations_too_and_those_that_do_not_are_named() -> None:
    texts = ("Bees dance.", "Ants walk far.", "Dancing bees.")
    documents, paraphrase = [{"id": str(n), "text": text, "keyphrases": ["bees"]} for n, text in enumerate(texts)], "2"
    lists = {"0": ["bees", "dance"], "1": ["ants"], "2": ["bees"]}
    both = karat.Run.of(({"id": n, "keyphrases": phrases} for n, phrases in lists.items()), name="both")
    page = karat.report(
        karat.Corpus.of(documents[:2]),
        both,
        karat.Run.of(both.without({paraphrase}), name="half"),
        pairs=[{"a": "0", "b": paraphrase}],
        reformulations=karat.Corpus.of(documents[2:], name="paraphrases"),
        resamples=9,
    )
    [part] = page.parts
    assert (part.documents, part.systems) == (2, ("both", "half"))
    [row] = part.found["homogeneity"].as_dict()["rows"]
    assert (row["system"], row["hooper"]) == ("both", 0.5)
    assert "half: no predictions for the reformulations, so it is not measured" in page.notes


def test_only_runs_that_tell_how_sure_they_are_are_asked_for_their_confidence() -> None:
    corpus = karat.Corpus.of([{"id": "0", "text": "Bees dance.", "keyphrases": ["bees"]}])
    sure = karat.Run.of([{"id": "0", "keyphrases": ["bees"], "token_probs": [[0.5]]}], name="sure")
    ranks = karat.Run.of([{"id": "0", "keyphrases": ["bees"], "scores": [28.9]}], name="ranks")
    [part] = karat.report(corpus, sure, ranks, resamples=9).parts
    assert {row["system"] for row in part.found["confidence"].as_dict()["rows"]} == {"sure"}
    weights = karat.Run.of([{"id": "0", "keyphrases": ["bees"], "scores": [0.3]}], name="weights")
    for run in (ranks, weights):
        assert "are not probabilities" in karat.report(corpus, run, resamples=9).parts[0].missing["confidence"]


def test_results_give_tables_and_charts_and_say_that_there_are_no_documents(tmp_path: Path) -> None:
    karat.score(*SYNTHETIC).save(tmp_path / "both.karat")
    found = karat.report(str(tmp_path / "both.karat"), resamples=100)
    blocks = {section.anchor: section.blocks[0][1] for section in sections(found)}
    assert len(blocks["scores"].tables[0].rows) == 2
    assert "audit" not in blocks
    assert "not texts" in dict(left_out(found))["Under every protocol"]
    assert found.parts[0].browser is None
    with pytest.raises(InputError, match="-m chooses nothing"):
        karat.report(str(tmp_path / "both.karat"), metrics=["f1@5"])


def test_systems_are_ranked_over_several_corpora() -> None:
    found = karat.report([(named(name), runs()) for name in ("a", "b", "c")], resamples=20, metrics=["r@M"])
    [ranks] = [section for section in sections(found) if section.anchor == "ranks"]
    row = ranks.blocks[0][1].tables[0].rows[0]
    # Recall of .8625 and .2375 on each of three corpora: a sign test of .25, which is the least that there can be.
    assert [cell.text for cell in row] == ["r@M all", "1.0000", "2.0000", "none", ".2500"]
    assert [*found.notes][-1].endswith(
        "on 3 corpora cannot tell any two apart, whatever they are: p is 0.25 at the least"
    )
    assert ranks.blocks[0][1].said[0].startswith("Friedman's p and the critical difference go by every order")
    with pytest.raises(InputError, match="two corpora are named 'a'"):
        karat.report([(named("a"), runs()), (named("a"), runs())], resamples=20)


def test_a_corpus_with_one_system_and_a_system_without_a_run_are_named() -> None:
    one, two = runs()
    listed = [(named("a"), [one, two]), (named("b"), [one, two]), (named("c"), [one])]
    found = karat.report(listed, resamples=20, metrics=["r@M"])
    assert f"on c there is {one.name} alone, so that nothing is compared" in found.notes
    assert found.comparison is not None
    assert [each.friedman.corpora for each in found.comparison.rankings] == [2]
    assert {each.corpus for each in found.comparison.standings} == {"a", "b", "c"}
    third = karat.Run.of(list(two), name="third")
    listed = [(named("a"), [one, two, third]), (named("b"), [one, two])]
    found = karat.report(listed, resamples=20, metrics=["r@M"])
    assert "third has no run on b, so it is left out of the ranks over all corpora" in found.notes


def test_letters_of_a_page_do_not_depend_on_the_number_of_metrics() -> None:
    documents = [{"id": str(i), "text": f"a{i} of b{i}", "keyphrases": [f"a{i}", f"c{i}"]} for i in range(40)]
    right = [{"id": str(i), "keyphrases": [f"a{i}", f"c{i}"]} for i in range(40)]
    wrong = [{"id": str(i), "keyphrases": [f"b{i}", f"d{i}"]} for i in range(40)]
    many = [karat.Run.of(wrong if i % 2 else right, name=f"s{i}") for i in range(7)]
    metrics = [f"f1@{k}:{subset}" for k in (1, 2, "M") for subset in ("all", "present", "absent")]
    found = karat.report(karat.score(karat.Corpus.of(documents), *many, metrics=metrics)).comparison
    assert found is not None
    assert len(found.pairs) == 189
    assert {pair.apart.family for pair in found.pairs if not pair.apart.equal} == {
        1
    }  # all 12 unequal pairs are one test
    for metric in ("all", "present", "absent"):
        letters = {
            e.system: e.letters for e in found.standings if (e.request.label, e.request.subset) == ("f1@M", metric)
        }
        assert letters == {f"s{i}": "b" if i % 2 else "a" for i in range(7)}


def named(name: str) -> karat.Corpus:
    return karat.Corpus(name, corpus().batches)


# ---------------------------------------------------------------------------------------------- documents


def test_every_phrase_is_told_as_it_was_by_hand(page: Page) -> None:
    assert page.parts[0].browser is not None
    first, second, *_ = page.parts[0].browser.entries
    assert [each.prmu for each in first.references] == ["P", "M", "P", "M", "U"]
    assert first.answers[0].states == ("found", "near", "missed", "found", "missed")
    assert first.answers[1].states == ("found", "missed", "missed", "missed", "missed")
    assert [each.fate for each in first.answers[1].predictions] == ["other", "found", "dropped"]
    assert second.answers[1].states == ("missed", "found", "missed")
    [place] = first.references[0].places
    assert [first.title[slice(*span)] for span in first.places[place].title] == ["honey bees"]
    assert [first.text[slice(*span)] for span in first.places[place].text] == ["Honey bees"]


def test_near_misses_are_those_of_nearmiss() -> None:
    pairs: list[Any] = []
    karat.nearmiss(*SYNTHETIC[:2], pairs=pairs.extend)
    [protocol] = as_protocols(["karat"])
    found = set()
    for chunk in chunks(karat.read(SYNTHETIC[0]), [karat.read_run(SYNTHETIC[1])], Join()):
        prepared = prepare(chunk.documents.records(), protocol.matching)
        aligned = align(prepared, chunk.predictions[0].records(), protocol.counting)
        for entry in entries(chunk.ids, [aligned]):
            found |= {(entry.id, each.phrase) for each in entry.answers[0].predictions if each.fate == "near"}
    assert found == {(each.id, each.prediction) for each in pairs}
    assert len(found) > 20


def test_the_scores_that_documents_are_sorted_by_are_those_of_their_system(page: Page) -> None:
    browser = page.parts[0].browser
    assert browser is not None
    for name, own in zip(browser.systems, browser.scores, strict=True):
        [score] = [s for s in karat.score(corpus(), *runs(), metrics=["f1@M"]).scores if s.system == name]
        assert own == pytest.approx(score.per_document().tolist(), nan_ok=True)


def blocks_of(html: str) -> Iterator[Any]:
    for block in re.findall(r'<script type="application/octet-stream"[^>]*>([^<]*)</script>', html):
        yield unpacked(block)


def test_what_is_packed_counts_letters_as_a_browser_does(html: str) -> None:
    index, chunk = blocks_of(html)
    assert index["systems"] == [ONE, TWO]
    assert index["ids"][1] == "d2"
    text, places, references, _ = chunk[0]
    wide = text.encode("utf-16-le")
    start, end = places[references[0][2][0]][1]
    assert wide[2 * start : 2 * end].decode("utf-16-le") == "Honey bees"
    assert index["titles"][0].startswith(f"Swarms {BEE}")
    assert IMAGE in index["titles"][0]
    assert HEBREW in text
    # Of the first document the second system misses a P, which is met in the last fifth of the text, two M and a U.
    assert index["flags"][1][0] & 0b1111 == 0b1101
    assert index["flags"][1][0] >> 4 == 0b10000


def test_texts_that_may_not_be_passed_on_are_nowhere() -> None:
    found = karat.report(corpus(), *runs(), resamples=20, texts=False)
    [browser] = [part.browser for part in found.parts]
    assert browser is not None
    packed = pack(browser, "nasty", 0)
    whole = json.dumps([unpacked(packed.index), *map(unpacked, packed.chunks)])
    assert "dear" not in whole
    assert "Swarms" not in whole
    assert "zoology" in whole


# ---------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SYNTHETIC[0], SYNTHETIC[1]), "where should the page go? Write -o report.html"),
        ((*SYNTHETIC, "-o", "page.pdf"), "a page is written to a file that ends in .html"),
        ((*SYNTHETIC, "-o", "page.html", "--keep-runs", "runs"), "--keep-runs is for what models predict"),
        ((SYNTHETIC[0], "-o", "page.html", "--models", "yak"), "did you mean 'yake'"),
        ((*SYNTHETIC, "-o", "page.html", "--reformulations", SYNTHETIC[0]), "give the pairs too, with --pairs"),
        ((*SYNTHETIC, "-o", "page.html", "-q", "--protocol", "chan2018"), "did you mean 'chan2019'"),
        ((*SYNTHETIC, "-o", "page.html", "--references", "readers"), "has no reference sets"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = subprocess.run([*program(), "report", *arguments], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_page_of_one_system_says_how_many_resamples_were_drawn() -> None:
    documents = [{"id": "d1", "text": "Bees swarm.", "keyphrases": ["bee"]}]
    page = karat.report(documents, [{"id": "d1", "keyphrases": ["bees"]}])
    assert "10,000 resamples of the documents, seed 0" in page.html()


def test_the_headline_is_of_the_primary_metric() -> None:
    results = karat.score(*SYNTHETIC, metrics=["f1@5", "r@M:absent"])
    found = karat.report(results, resamples=20, primary="r@M:absent")
    assert "Best is meant by r@M of absent phrases" in list(summary(found, found.parts[0]))[1]
    assert "Best is meant by f1@5" in list(summary(page := karat.report(results, resamples=20), page.parts[0]))[1]
    scored = karat.report(*SYNTHETIC, resamples=20, metrics=["f1@5"], primary="r@M:absent")
    assert "Best is meant by r@M of absent phrases" in list(summary(scored, scored.parts[0]))[1]
    with pytest.raises(karat.InputError, match=r"unknown primary metric 'f1@3'.*f1@5"):
        karat.report(results, resamples=20, primary="f1@3")

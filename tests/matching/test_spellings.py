"""A phrase gets the same score however Unicode spells it, under karat alone, and what that merges is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.protocol import PRESETS
from karat.results.files import encode, load
from karat.results.merge import merge
from tests.examples import examples

METRICS = [
    "f1@M",
    "f1@M:present",
    "f1@M:absent",
    "share:P",
    "share:R",
    "share:M",
    "share:U",
    "duplicate_ratio",
    "soft_f",
]
WORDS = [
    "réseau",
    "état",
    "mạng",
    "tiếng",
    "한국어",
    "형태소",
    "क़लम",
    "क\u094d\u200dष",
    "می\u200cخواهم",
    "Ångström",
    "👩\u200d💻",
    "❤\ufe0f",
    "network",
    "graph",
    "Σίσυφος",
]
INVISIBLE = ["\u00ad", "\u2060", "\ufeff", "\u200e", "\u034f"]

phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


def respelled(text: str, form: str, invisible: str) -> str:
    """Another spelling of a text: in a form of normalisation, with something invisible between any two characters."""
    return invisible.join(normalize(form, text))  # type: ignore[arg-type]


spellings: st.SearchStrategy[Callable[[str], str]] = st.builds(
    lambda form, invisible: lambda text: respelled(text, form, invisible),
    st.sampled_from(["NFC", "NFD"]),
    st.sampled_from(["", *INVISIBLE]),
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Some documents and what a system predicts for them."""
    given: list[dict[str, Any]] = []
    predicted: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 3))):
        given.append(
            {
                "id": str(n),
                "title": draw(phrases),
                "text": " ".join(draw(st.lists(phrases, max_size=4))),
                "keyphrases": draw(st.lists(phrases | st.lists(phrases, min_size=1, max_size=2), max_size=4)),
            }
        )
        predicted.append({"id": str(n), "keyphrases": draw(st.lists(phrases, max_size=5))})
    given[0]["keyphrases"].append("graph")
    return given, predicted


def spelled(record: dict[str, Any], draw: Callable[[], Callable[[str], str]]) -> dict[str, Any]:
    """A record with each of its strings, but the id, spelled in a way of its own."""

    def again(value: Any) -> Any:
        return draw()(value) if isinstance(value, str) else [again(each) for each in value]

    return {name: value if name == "id" else again(value) for name, value in record.items()}


def scores(given: list[dict[str, Any]], predicted: list[dict[str, Any]], **options: Any) -> list[float | None]:
    found = karat.score(karat.Corpus.of(given), karat.Run.of(predicted), metrics=METRICS, **options)
    return [row["value"] for row in found.rows()]


@settings(deadline=None, max_examples=examples(60))
@given(both=documents(), data=st.data())
def test_any_spelling_of_any_string_has_the_same_scores(
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]], data: st.DataObject
) -> None:
    given, predicted = both
    other = [[spelled(record, lambda: data.draw(spellings)) for record in records] for records in both]
    assert scores(*other) == scores(given, predicted)


@settings(deadline=None, max_examples=examples(40))
@given(both=documents(), data=st.data())
def test_references_in_either_form_have_the_same_classes(
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]], data: st.DataObject
) -> None:
    given = both[0]
    other = [spelled(record, lambda: data.draw(spellings)) for record in given]
    assert karat.prmu(karat.Corpus.of(other)) == karat.prmu(karat.Corpus.of(given))


def f1(reference: str, prediction: str, protocol: str = "karat") -> float | None:
    """F1 of one prediction."""
    corpus = karat.Corpus.of([{"id": "1", "keyphrases": [reference]}])
    run = karat.Run.of([{"id": "1", "keyphrases": [prediction]}])
    value: float | None = karat.score(corpus, run, metrics=["f1@M"], protocol=protocol).rows()[0]["value"]
    return value


@pytest.mark.parametrize(
    ("prediction", "equal"),
    [
        ("re\u0301seau", True),
        ("ré\u00adseau", True),
        ("reseau", False),  # an accent left out is another word
        ("RE\u0301SEAUX", False),  # Porter knows no French plural
    ],
)
def test_an_accent_may_be_spelled_but_not_left_out(prediction: str, equal: bool) -> None:
    assert f1("réseau", prediction) == float(equal)


@pytest.mark.parametrize(
    ("reference", "prediction"),
    [("می\u200cخواهم", "میخواهم"), ("क\u094d\u200dष", "क\u094dष"), ("👩\u200d💻 x", "👩 💻 x"), ("x²", "x2")],
)
def test_what_makes_another_word_is_another_phrase(reference: str, prediction: str) -> None:
    assert f1(reference, prediction) == 0


def test_every_script_compares_characters_as_they_are_given() -> None:
    assert {name: preset.matching.unicode for name, preset in PRESETS.items()} == {
        name: "composed" if name == "karat" else "as-is" for name in PRESETS
    }
    for name in ("chan2019", "kpdrop2022", "karat,unicode=as-is"):
        assert f1("état", "e\u0301tat", protocol=name) == 0


# ---------------------------------------------------------------------------------------------- what is merged


def nfd(text: str) -> str:
    return normalize("NFD", text)


# In the first document each phrase owes something to another spelling, but `graph`; in the second one nothing does.
CORPUS = [
    {
        "id": "1",
        "title": "Les réseaux",
        "text": nfd("Un réseau évolue dans un graph."),
        "keyphrases": ["réseau", nfd("évolue"), "évolue", nfd("état"), "graph"],
    },
    {"id": "2", "text": "Les réseaux", "keyphrases": ["réseaux", "graph"]},
]
RUN = [
    {"id": "1", "keyphrases": [nfd("réseau"), "état", "e\u00adtat", "graph", "g\u2060raph"]},
    {"id": "2", "keyphrases": ["réseaux", "graph"]},
]
NOTE = (
    "run, karat: 3 predictions and 2 references are found, present or repeated only because other spellings of the "
    "same characters (NFD, zero-width characters) are equal; unicode=as-is compares them as they are given"
)


def scored(**options: Any) -> karat.Results:
    return karat.score(karat.Corpus.of(CORPUS), karat.Run.of(RUN), metrics=["f1@M"], **options)


def test_what_is_merged_is_counted_in_a_note() -> None:
    # Predictions: réseau is found, état is found, g-raph repeats graph; e-tat is neither. References: réseau is present
    # in the text, the second évolue is present and repeats the first, which is in the text as it is given.
    assert scored().notes[-1] == NOTE
    assert scored().as_dict()["notes"][-1] == NOTE
    assert karat.audit(karat.Corpus.of(CORPUS), karat.Run.of(RUN), protocol=["chan2019"]).notes[-1] == NOTE


@pytest.mark.parametrize("protocol", ["karat,unicode=as-is", "chan2019"])
def test_nothing_is_counted_where_nothing_is_merged(protocol: str) -> None:
    assert not any("spellings" in note for note in scored(protocol=protocol).notes)
    plain = [[record | {"keyphrases": ["graph", "état"]} for record in records] for records in (CORPUS, RUN)]
    found = karat.score(karat.Corpus.of(plain[0]), karat.Run.of(plain[1]), metrics=["f1@M"])
    assert found.notes == ()


@pytest.mark.parametrize("jobs", [1, 2])
def test_shards_count_what_the_whole_counts(jobs: int, tmp_path: Path) -> None:
    parts = []
    for n in (1, 2):
        scored(shard=f"{n}/2", jobs=jobs).save(tmp_path / f"{n}.karat")
        parts.append(load(tmp_path / f"{n}.karat"))
    assert encode(merge(parts)) == encode(scored())
    assert merge(parts).notes[-1] == NOTE


def test_a_file_of_before_is_read(tmp_path: Path) -> None:
    import msgspec

    file = msgspec.msgpack.decode(msgspec.msgpack.decode(encode(scored()))["content"]) | {"karat": 1}
    for tally in file["tallies"]:
        del tally["merged"], tally["merged_references"]
    (tmp_path / "old.karat").write_bytes(msgspec.msgpack.encode(file))
    assert load(tmp_path / "old.karat").tallies[0].merged == 0


# ---------------------------------------------------------------------------------------------- other verbs


def test_a_reference_is_marked_where_it_stands_however_it_is_spelled() -> None:
    shown = karat.show(karat.Corpus.of(CORPUS), karat.Run.of(RUN), id="1")
    text = CORPUS[0]["text"]
    assert isinstance(text, str)
    assert [text[start:end] for start, end in shown.text_marks] == [nfd("réseau"), nfd("évolue"), "graph"]
    assert [each.hit for each in shown.predictions] == [True, True, False, True, False]


def test_the_page_marks_what_is_present_however_it_is_spelled() -> None:
    browser = karat.report(karat.Corpus.of(CORPUS), karat.Run.of(RUN)).parts[0].browser
    assert browser is not None
    entry = browser.entries[0]
    marked = {entry.text[start:end] for place in entry.places for start, end in place.text}
    assert {nfd("réseau"), nfd("évolue"), "graph"} <= marked


def test_names_votes_and_pairs_go_by_the_one_spelling() -> None:
    run = karat.Run.of(RUN)
    other = karat.Run.of([{"id": "1", "keyphrases": ["réseau"]}, {"id": "2", "keyphrases": []}], name="other")
    fused = karat.ensemble(run, other, at_least=2)
    assert [len(record.keyphrases or ()) for record in fused] == [1, 0]
    named = karat.consistency(karat.Run.of([{"id": "1", "keyphrases": ["état", nfd("état")]}])).rows()[0]
    assert (named["names"], named["concepts"]) == (1, 1)
    alike = [{"id": "1", "keyphrases": ["état", "graph"]}, {"id": "2", "keyphrases": [nfd("état"), "graph", "net"]}]
    assert [row["jaccard"] for row in karat.mine_pairs(karat.Corpus.of(alike))] == [pytest.approx(2 / 3)]

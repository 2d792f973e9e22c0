"""What is cited: every preset names its papers, signatures have a short form, and a methods sentence says it all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import karat
from karat.citations import PAPERS, papers_of, program, script_of, short_signature, short_signatures
from karat.protocol import PRESETS, published

ROOT = Path(__file__).parents[1]
CORPUS = karat.Corpus.of([{"id": f"d{n}", "text": "deep nets , trees", "keyphrases": ["deep nets"]} for n in range(5)])
RUNS = [
    karat.Run.of([{"id": f"d{n}", "keyphrases": own} for n in range(5)], name)
    for name, own in (("a", ["trees"]), ("b", ["deep nets"]))
]
ENTRY = re.compile(r"@\w+\{[\w-]+,\n(?:  \w+ = \{.*\},\n)+\}")


def test_every_published_preset_cites_a_paper() -> None:
    for name, preset in PRESETS.items():
        assert all(key in PAPERS for key in preset.cites)
        assert bool(preset.cites) == (name != "karat") or preset.experimental, name


def test_a_protocol_that_rests_on_another_cites_both() -> None:
    assert [paper.cited() for paper in papers_of(PRESETS["ye2021"])] == [
        "Ye et al., 2021",
        "Chan et al., 2019",
        "Porter, 1980",
    ]


def test_a_script_is_cited_where_it_is_of_a_repository() -> None:
    cited = {name: script_of(preset) for name, preset in PRESETS.items()}
    assert [name for name, script in cited.items() if script is None] == ["karat", "kundu2023", "houbre2026"]
    assert cited["ye2021"] is not None
    assert r"title = {{jiacheng-ye/kg\_one2set}}," in cited["ye2021"].bibtex()


@pytest.mark.parametrize("key", PAPERS)
def test_entries_are_bibtex(key: str) -> None:
    entry = PAPERS[key].bibtex()
    assert ENTRY.fullmatch(entry)
    assert entry.count("{") == entry.count("}")
    assert re.fullmatch(r"\d{4}", PAPERS[key].year)


def test_karat_is_cited_as_its_file_of_citation_says() -> None:
    said = (ROOT / "CITATION.cff").read_text()
    assert f'title: "{program("").title}"' in said
    assert f"version: {karat.__version__}" in said
    assert "name: karat developers" in said


@pytest.mark.parametrize("protocol", published(), ids=str)
def test_a_short_signature_names_protocol_version_and_references(protocol: karat.Protocol) -> None:
    text = protocol.signature(set="keyphrases", hash="652d0123456789ab", karat="0.2")
    assert short_signature(text) == f"karat|{protocol}|v0.2|refs:652d"


def test_a_short_signature_names_other_references() -> None:
    text = PRESETS["chan2019"].signature(set="author", hash="652d0123456789ab", extra="12345678", karat="0.2")
    assert short_signature(text) == "karat|chan2019|v0.2|refs:652d|set:author|extra:1234"
    assert short_signature("nolonger,tokenizer=space,hash=652d01,karat=0.0.1") == "karat|nolonger|v0.0.1|refs:652d"
    assert short_signature("human,scale=5") == "karat|human"


def test_signatures_of_several_corpora_say_once_what_they_share() -> None:
    named = [(name, f"karat,hash={start}00,karat=1") for name, start in (("a", "652d"), ("b", "ce12"))]
    french = ("c", "karat,stemmer=french,hash=40b700,karat=1")
    assert (
        short_signatures([*named, french])
        == "karat|karat|v1|refs:652d (a), ce12 (b); karat|karat,stemmer=french|v1|refs:40b7 (c)"
    )


def test_scores_are_cited_with_protocol_and_average() -> None:
    found = karat.cite(karat.score(CORPUS, *RUNS, metrics=["f1@5:present", "f1@5"], protocol="chan2019,pad=none"))
    assert found.methods.startswith(
        f"Scores are computed with karat {karat.__version__} under the protocol chan2019,pad=none"
    )
    assert "f1@5 (present, all), F1 of mean precision and mean recall." in found.methods
    assert "tested" not in found.methods
    keys = re.findall(r"^@\w+\{([\w-]+),", found.bibtex, re.M)
    assert keys == ["karat", "script-keyphrase-generation-rl", "chan2019rewards", "porter1980"]


def test_comparisons_and_tables_are_cited_with_their_tests() -> None:
    compared = karat.cite(karat.compare(CORPUS, *RUNS, metrics=["f1@5"], resamples=500, seed=3, correction="bh"))
    for said in (
        "by paired randomisation, two-sided with 500 resamples (seed 3)",
        "adjusted by Benjamini-Hochberg over all pairs of systems on one metric and corpus (1 test each)",
        "Intervals of scores are 95 % t intervals of the logit",
        "Signature: karat|karat|v",
    ):
        assert said in compared.methods
    assert "@article{benjamini1995," in compared.bibtex
    table = karat.cite(karat.table(CORPUS, *RUNS, metrics=["f1@5"], resamples=500))
    said = "adjusted by step-down max-T over all pairs of systems on one metric and corpus (1 test each)"
    assert f"{said} and significant at .05." in table.methods
    assert "intervals" not in table.methods
    plain = karat.cite(karat.table(CORPUS, *RUNS, metrics=["f1@5"], significance=False))
    assert "tested" not in plain.methods


def test_other_results_are_not_cited() -> None:
    with pytest.raises(karat.InputError, match="not a Description"):
        karat.cite(karat.describe(CORPUS))  # type: ignore[arg-type]

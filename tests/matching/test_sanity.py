"""What would lead to a wrong conclusion is said, in one sentence; what is in order is passed over in silence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import karat
from karat.errors import InputError
from karat.matching.inputs import as_protocols
from karat.matching.sanity import has_texts, sanity_warnings
from karat.results.files import encode
from karat.results.merge import merge

Record = dict[str, Any]

WORDS = [
    a + b for a in ("bor", "cal", "dem", "fal", "gon", "hil", "jor", "kem") for b in ("ta", "ne", "si", "mu", "po")
]


def corpus_of(count: int, seed: int = 0, language: str = "english") -> list[Record]:
    """Documents of which each is of its own topics, and its references mostly are."""
    frame = {
        "english": "This paper shows that the {} of the {} is a {} which can be used for the {} with {} and {}.",
        "french": "Nous montrons que le {} de la {} est un {} qui peut servir dans les {} avec {} et {}.",
        "german": "Wir zeigen, dass die {} der {} und das {} für den {} nicht von {} oder {} ist.",
    }[language]
    chance = Random(seed)
    made = []
    for n in range(count):
        topics = [f"{chance.choice(WORDS)}{chance.choice(WORDS)}" for _ in range(6)]
        made.append(
            {
                "id": str(n),
                "title": f"{topics[0]} {topics[1]}",
                "text": frame.format(*topics),
                "keyphrases": [topics[0], f"{topics[2]} {topics[3]}", f"{chance.choice(WORDS)}al {topics[4]}"],
            }
        )
    return made


def run_of(documents: list[Record], ids: list[str] | None = None) -> list[Record]:
    """An extractor's run: two phrases of each text, in it as they are."""
    ids = ids or [document["id"] for document in documents]
    return [
        {"id": i, "keyphrases": [document["title"], document["keyphrases"][0]]}
        for i, document in zip(ids, documents, strict=True)
    ]


def warnings(documents: list[Record], *runs: list[Record], **options: Any) -> tuple[str, ...]:
    """What is warned of when runs are scored."""
    named = [karat.Run.of(run, name=f"run{n}") for n, run in enumerate(runs, 1)]
    notes = karat.score(karat.Corpus.of(documents, name="made"), *named, metrics=["f1@M"], **options).notes
    return tuple(note for note in notes if note.startswith("warning: "))


def save(path: Path, records: list[Record]) -> str:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    return str(path)


ENGLISH, FRENCH = corpus_of(40), corpus_of(40, language="french")
OTHER = corpus_of(40, seed=1)  # other documents with the same ids


def test_what_is_in_order_is_passed_over_in_silence() -> None:
    assert warnings(ENGLISH, run_of(ENGLISH)) == ()
    assert warnings(FRENCH, run_of(FRENCH), language="french") == ()
    assert warnings(ENGLISH, run_of(ENGLISH), run_of(ENGLISH)[::-1]) == ()
    assert warnings(ENGLISH[:1], run_of(ENGLISH[:1])) == ()


# ---------------------------------------------------------------------------------------------- order of files


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The paths of a corpus and of its run."""
    return save(tmp_path / "corpus.jsonl", ENGLISH), save(tmp_path / "run.jsonl", run_of(ENGLISH))


def every_verb() -> dict[str, Callable[..., Any]]:
    def compare(corpus: str, run: str) -> Any:
        return karat.compare(corpus, run, f"again={run}", resamples=10)

    def overlap(corpus: str, run: str) -> Any:
        return karat.overlap(corpus, run, f"again={run}")

    return {
        "score": karat.score,
        "audit": karat.audit,
        "compare": compare,
        "overlap": overlap,
        "nearmiss": karat.nearmiss,
        "confidence": karat.confidence,
        "describe": karat.describe,
        "page": karat.report,
    }


@pytest.mark.parametrize("verb", ["score", "audit", "compare", "overlap", "nearmiss", "confidence", "describe", "page"])
def test_a_run_in_the_place_of_the_corpus_is_an_error(verb: str, files: tuple[str, str]) -> None:
    corpus, run = files
    with pytest.raises(
        InputError, match=r"run\.jsonl has no titles and texts, but .*corpus\.jsonl, .* has: the corpus"
    ):
        every_verb()[verb](run, corpus)


def test_the_error_comes_whatever_is_asked_for(files: tuple[str, str]) -> None:
    corpus, run = files
    for metric in ("f1@5", "f1@5:present", "ece"):
        with pytest.raises(InputError, match="the corpus comes first"):
            karat.score(run, corpus, metrics=[metric])
    with pytest.raises(InputError, match="the corpus comes first"):
        karat.score(run, f"again={run}", corpus)  # the corpus last


def test_a_corpus_without_texts_is_scored(tmp_path: Path, files: tuple[str, str]) -> None:
    bare = save(tmp_path / "bare.jsonl", [{"id": d["id"], "keyphrases": d["keyphrases"]} for d in ENGLISH])
    assert karat.score(bare, files[1]).rows()
    assert not has_texts(karat.read(bare), [karat.read_run(files[1])])


def test_the_way_out_that_the_error_names_is_one(tmp_path: Path, files: tuple[str, str]) -> None:
    bare = save(tmp_path / "bare.jsonl", [{"id": d["id"], "keyphrases": d["keyphrases"]} for d in ENGLISH])
    with_texts = save(tmp_path / "texts.jsonl", [d | {"keyphrases": d["keyphrases"][:1]} for d in ENGLISH])
    with pytest.raises(InputError, match="karat run convert"):
        karat.score(bare, with_texts)
    karat.write(karat.read_run(with_texts), tmp_path / "plain.jsonl")
    assert karat.score(bare, tmp_path / "plain.jsonl", metrics=["r@M"]).rows()[0]["value"] == pytest.approx(1 / 3)


def test_a_corpus_as_its_own_run_is_warned_of(tmp_path: Path, files: tuple[str, str]) -> None:
    [warning] = [note for note in karat.score(files[0], files[0], metrics=["f1@M"]).notes if "warning" in note]
    assert "in 40 of 40 sampled documents its predictions are the references, and its records have titles" in warning
    oracle = save(tmp_path / "oracle.jsonl", [{"id": d["id"], "keyphrases": d["keyphrases"]} for d in ENGLISH])
    with_texts = save(tmp_path / "texts.jsonl", [d | run for d, run in zip(ENGLISH, run_of(ENGLISH), strict=True)])
    assert karat.score(files[0], oracle, with_texts, metrics=["f1@M"]).notes == ()


# ---------------------------------------------------------------------------------------------- another corpus


def test_a_run_of_another_corpus_with_the_same_ids_is_warned_of() -> None:
    [warning] = warnings(ENGLISH, run_of(ENGLISH), run_of(OTHER))
    assert warning.startswith("warning: run2: ")
    assert warning.endswith("see whether it is a run of made or of another corpus with the same ids")
    assert "(of references " in warning
    assert "40 documents sampled" in warning


def test_lines_that_are_out_of_step_are_warned_of() -> None:
    bare = [{"keyphrases": record["keyphrases"]} for record in run_of(ENGLISH)]
    assert warnings(ENGLISH, bare) == ()
    assert len(warnings(ENGLISH, bare[1:] + bare[:1])) == 1


def test_a_generator_of_absent_phrases_is_not_taken_for_a_run_of_another_corpus() -> None:
    # One word of each phrase stands in the document, the other in none of the whole corpus.
    phrases = [[f"{document['title'].split()[0]} theory"] for document in ENGLISH]
    run = [{"id": document["id"], "keyphrases": each} for document, each in zip(ENGLISH, phrases, strict=True)]
    assert warnings(ENGLISH, run) == ()
    # Four words in five are nowhere.
    rare = [record | {"keyphrases": [f"{record['keyphrases'][0]} some quite unheard word"]} for record in run]
    assert warnings(ENGLISH, [each | {"keyphrases": each["keyphrases"] * 2} for each in rare]) == ()


def test_a_run_in_another_order_is_looked_at_too() -> None:
    many, other = corpus_of(2500), run_of(corpus_of(2500, seed=1))
    own = run_of(many)
    Random(0).shuffle(own)
    Random(0).shuffle(other)
    [warning] = warnings(many, own, other)
    assert warning.startswith("warning: run2: ")
    assert "59 documents sampled" in warning


@pytest.mark.parametrize("count", range(1, 5))
def test_of_few_documents_nothing_is_said(count: int) -> None:
    assert warnings(ENGLISH[:count], run_of(OTHER[:count])) == ()


def test_references_that_do_not_stand_in_their_texts_prove_nothing() -> None:
    untied = [d | {"keyphrases": other["keyphrases"]} for d, other in zip(ENGLISH, OTHER, strict=True)]
    assert warnings(untied, run_of(OTHER)) == ()


def test_a_run_without_predictions_is_none_of_another_corpus() -> None:
    assert warnings(ENGLISH, [{"id": d["id"], "keyphrases": []} for d in ENGLISH]) == ()


# ---------------------------------------------------------------------------------------------- languages, scripts


def test_another_language_than_the_stemmer_s_is_warned_of() -> None:
    said = (
        "warning: 40 of 40 sampled documents of made look {}, and are stemmed as {}; --language {} stems them as such"
    )
    assert warnings(FRENCH, run_of(FRENCH)) == (said.format("French", "English", "french"),)
    assert warnings(ENGLISH, run_of(ENGLISH), language="german") == (said.format("English", "German", "english"),)
    german = corpus_of(40, language="german")
    assert warnings(german, run_of(german), protocol=["chan2019", "kpdrop2022"]) == (
        said.format("German", "English", "german"),
    )


def test_what_is_not_stemmed_may_be_in_any_language() -> None:
    assert warnings(FRENCH, run_of(FRENCH), protocol="karat,stemmer=none") == ()


def test_a_corpus_that_is_partly_in_another_language_is_not_warned_of() -> None:
    mixed = [*ENGLISH[:25], *(d | {"id": f"f{d['id']}"} for d in FRENCH[:15])]
    assert warnings(mixed, run_of(mixed)) == ()


CHINESE = [
    {
        "id": str(n),
        "text": f"本文提出第{n}种从文本中抽取关键词的方法，并在公开数据集上进行了实验，结果表明神经网络优于传统方法。",
        "keyphrases": ["神经网络", "关键词", "数据集", "传统方法", "本文提出第"],
    }
    for n in range(10)
]
CHINESE_RUN = [{"id": document["id"], "keyphrases": ["神经网络"]} for document in CHINESE]


WITHOUT = "warning: 10 of 10 sampled documents of made are {} without spaces between words, {}"
THAI = [{"id": str(n), "text": "งานวิจัยนี้เสนอวิธีการสกัดคำสำคัญจากข้อความ", "keyphrases": ["คำสำคัญ"]} for n in range(10)]
JAPANESE = [
    {"id": str(n), "text": f"本研究では、第{n}の文書からキーワードを抽出する手法を提案する。", "keyphrases": ["抽出"]}
    for n in range(10)
]


def test_a_script_without_spaces_between_words_is_warned_of() -> None:
    untrusted = (
        "so that what is present or absent and what is stemmed cannot be trusted; put spaces between the words of "
        "texts and phrases first, or choose {}"
    )
    compares = untrusted.format("--language chinese, which compares characters")
    assert warnings(CHINESE, CHINESE_RUN, protocol="chan2019") == (WITHOUT.format("Chinese", compares),)
    [warning] = warnings(THAI, CHINESE_RUN)
    assert warning == WITHOUT.format("Thai", untrusted.format("present=characters"))


def test_how_chinese_and_japanese_are_compared_is_said_with_what_else_there_is() -> None:
    said = (
        "and are compared character by character (--language {} says so for every protocol); segmentation={} compares "
        "words"
    )
    chinese, japanese = said.format("chinese", "jieba"), said.format("japanese", "sudachi")
    assert warnings(CHINESE, CHINESE_RUN) == (WITHOUT.format("Chinese", chinese),)
    assert warnings(JAPANESE, CHINESE_RUN) == (WITHOUT.format("Japanese", japanese),)
    assert warnings(CHINESE, CHINESE_RUN, protocol="chan2019", language="zh") == (WITHOUT.format("Chinese", chinese),)
    both = warnings(CHINESE, CHINESE_RUN, protocol=["karat", "chan2019"])
    assert [note.split(", ")[1][:15] for note in both] == ["and are compare", "so that what is"]
    [foreign] = warnings(CHINESE, CHINESE_RUN, language="french", protocol="karat,present=characters")
    assert foreign.endswith("look Chinese, and are stemmed as French; --language chinese stems them as such")


def test_what_the_warning_proposes_finds_what_is_present() -> None:
    def present(documents: list[Record], run: list[Record], protocol: str) -> list[float]:
        found = karat.score(
            karat.Corpus.of(documents), karat.Run.of(run), metrics=["r@M:present", "p@M:present"], protocol=protocol
        )
        assert not any("without spaces" in note for note in found.notes) or protocol == "karat"
        return [row["value"] for row in found.rows()]

    assert present(CHINESE, CHINESE_RUN, "karat,present=characters") == [pytest.approx(1 / 5), 1.0]
    cut = {"text": "本文 提出 从 文本 中 抽取 关键词 的 方法 ， 结果 表明 神经 网络 优于 传统 方法 。"}
    spaced = [d | cut | {"keyphrases": ["神经 网络", "关键词", "传统 方法"]} for d in CHINESE]
    assert warnings(spaced, CHINESE_RUN) == ()
    assert present(spaced, [r | {"keyphrases": ["神经 网络"]} for r in CHINESE_RUN], "karat") == [
        pytest.approx(1 / 3),
        1.0,
    ]


def test_a_few_documents_without_spaces_are_passed_over() -> None:
    mixed = [*(d | {"id": f"e{d['id']}"} for d in ENGLISH), *CHINESE[:2]]
    assert warnings(mixed, run_of(ENGLISH, [f"e{d['id']}" for d in ENGLISH]) + CHINESE_RUN[:2]) == ()


# ---------------------------------------------------------------------------------------------- where it is said


def test_warnings_are_notes_of_every_verb(tmp_path: Path) -> None:
    corpus = save(tmp_path / "made.jsonl", FRENCH)
    run = save(tmp_path / "run.jsonl", [r | {"scores": [0.9, 0.2]} for r in run_of(corpus_of(40, 1, "french"))])
    for name, verb in every_verb().items():
        notes = verb(corpus, run).notes
        assert any("look French" in note for note in notes), name
        assert any("of another corpus with the same ids" in note for note in notes), name
    found = json.loads(karat.render(karat.score(corpus, run), "json"))["notes"]
    assert [note.split(":")[0] for note in found if "sampled" in note] == ["warning", "warning"]


def test_warnings_say_themselves_that_they_are_warnings() -> None:
    results = karat.score(karat.Corpus.of(FRENCH, name="made"), karat.Run.of(run_of(FRENCH)), metrics=["f1@M"])
    assert "\nwarning: 40 of 40 sampled documents of made look French, and are stemmed as" in karat.render(results)
    for form in ("md", "html"):
        assert "Warning: 40 of 40 sampled" in karat.render(results, form)
        assert "ote: warning" not in karat.render(results, form)


@pytest.mark.parametrize("jobs", [1, 2])
def test_shards_warn_of_what_the_whole_is_warned_of(jobs: int) -> None:
    corpus, run = karat.Corpus.of(FRENCH), karat.Run.of(run_of(corpus_of(40, 1, "french")))
    whole = karat.score(corpus, run, metrics=["f1@M"])
    assert len(whole.remarks) == 2
    shards = [karat.score(corpus, run, metrics=["f1@M"], shard=f"{n}/7", jobs=jobs) for n in range(1, 8)]
    assert encode(merge(shards)) == encode(whole)


def test_only_the_beginning_of_a_corpus_is_looked_at() -> None:
    read: list[int] = []

    def batches() -> Any:
        for n, batch in enumerate(karat.Corpus.of([d | {"id": f"{n}"} for n, d in enumerate(ENGLISH * 100)]).batches()):
            read.append(n)
            yield batch

    corpus = karat.Corpus("made", batches)
    run = karat.Run.of([{"id": str(n), "keyphrases": ["x"]} for n in range(4000)])
    list(sanity_warnings(corpus, [run], as_protocols(["karat"])))
    assert set(read) == {0}

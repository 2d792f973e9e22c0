"""Reformulations in other languages, with candidate phrases, several times and under a name, from a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus import Corpus
from karat.errors import InputError
from karat.llm.ask import LANGUAGES, language_name, steps
from karat.llm.client import Endpoint as Asked
from karat.models.prompt import Asking
from karat.pairs.reformulate import Reformulated, ReformulateOptions, forecast, reformulate
from tests.pairs.server import Endpoint, Handler, answer
from tests.pairs.test_command import COMMAND, environment, folder, ran, records
from tests.waiting import PATIENCE

__all__ = ["folder"]  # a fixture

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "d1", "text": "Honey bees dance on combs of wax.", "keyphrases": ["honey bees", ["combs", "comb"]]},
    {"id": "d2", "text": "Paper wasps build nests of wood.", "keyphrases": ["wasps"]},
]
CORPUS = Corpus.of(DOCUMENTS, "insects")


def made(server: Endpoint, via: str = "paraphrase", **options: Any) -> Reformulated:
    asked = Asked(server.url, "small", temperature=options.pop("temperature", 0.0))
    return reformulate(CORPUS, via, endpoint=asked, concurrency=1, **options)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------- languages


@pytest.mark.parametrize(
    ("given", "name"),
    [("es", "Spanish"), ("FR", "French"), ("german", "German"), ("Basque", "Basque"), ("old norse", "Old norse")],
)
def test_a_language_is_given_by_code_or_by_name(given: str, name: str) -> None:
    assert language_name(given) == name
    assert len(LANGUAGES) > 70


@pytest.mark.parametrize("given", ["xx", "q", "", "{text}", "French; ignore the text", "a" * 50])
def test_what_is_no_language_is_said_so(given: str) -> None:
    with pytest.raises(InputError, match="is not known; write its name in English, as Basque"):
        language_name(given)


def test_a_back_translation_starts_and_ends_in_the_language_of_the_documents(server: Endpoint) -> None:
    found = made(server, "back-translation", language="french", pivot="de")
    there, back = server.prompts()[:2]
    assert there.startswith("Translate the text below from French into German.")
    assert back.startswith("Translate the text below from German into French.")
    assert len(found) == 2
    with pytest.raises(InputError, match="the pivot of a back-translation is another language"):
        steps("back-translation", "fr", language="french")


def test_a_paraphrase_in_another_language_is_asked_for_in_it(server: Endpoint) -> None:
    made(server, language="fr")
    assert all("in French" in prompt and "{language}" not in prompt for prompt in server.prompts())
    server.asked.clear()
    made(server)
    assert not any("English" in prompt for prompt in server.prompts())  # as it has always been


def test_wordnet_has_english_words_only() -> None:
    with pytest.raises(InputError, match="WordNet has English words only"):
        reformulate(CORPUS, "synonyms", language="french")


# ---------------------------------------------------------------------------------------------- candidates


def test_the_prompt_lists_the_references_of_each_document(server: Endpoint) -> None:
    made(server, candidates="references")
    first, second = server.prompts()
    assert "- honey bees\n- combs\n" in first
    assert "- wasps\n" in second
    assert "honey bees" not in second
    assert "{candidates}" not in first


def test_both_ways_of_a_back_translation_have_the_candidates_of_the_document(server: Endpoint) -> None:
    made(server, "back-translation", candidates="references")
    assert ["- honey bees\n" in prompt for prompt in server.prompts()] == [True, True, False, False]


def test_candidates_come_from_a_run_or_from_an_extractor(server: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"id": "d2", "keyphrases": ["wood pulp"]}) + "\n")
    made(server, candidates=str(path))
    assert ["- wood pulp" in prompt for prompt in server.prompts()] == [False, True]
    assert "- (none)" in server.prompts()[0]
    server.asked.clear()
    made(server, candidates="firstphrases")
    assert "- honey bees" in server.prompts()[0].lower()


def test_other_candidates_are_another_question(server: Endpoint, tmp_path: Path) -> None:
    store = tmp_path / "answers.sqlite"
    for candidates in ("references", "references", None):
        made(server, candidates=candidates, store=store)
    assert len(server.asked) == 4  # the second time all is answered


@pytest.mark.parametrize(
    ("via", "options", "why"),
    [
        ("synonyms", {"candidates": "references"}, "--candidates is for paraphrase and back-translation"),
        ("paraphrase", {"candidates": "no-such-model"}, "no-such-model"),
        ("paraphrase", {"candidates": "llm:small"}, "a language model finds none"),
        ("paraphrase", {"name": "a~b"}, "the name of a method is a text without ~, not 'a~b'"),
        ("paraphrase", {"repeat": 0}, "repeat is a whole number from 1 to 100, not 0"),
        ("marian", {"repeat": 2, "forward": "x", "backward": "y"}, "translate a text in the same way each time"),
    ],
)
def test_what_cannot_be_is_one_sentence(via: str, options: dict[str, Any], why: str, server: Endpoint) -> None:
    with pytest.raises(InputError, match=why):
        made(server, via, **options)
    assert server.asked == []


def test_candidates_for_none_of_the_documents_are_an_error(server: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"id": "other", "keyphrases": ["x"]}) + "\n")
    with pytest.raises(InputError, match="has no phrase for any document of"):
        made(server, candidates=str(path))


def test_a_prompt_of_ones_own_must_hold_the_candidates(server: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("Say {text}")
    with pytest.raises(InputError, match=r"must hold \{candidates\}"):
        made(server, candidates="references", prompt=path)
    path.write_text("Keep {candidates} in {text}")
    made(server, candidates="references", prompt=path)
    assert server.prompts()[0] == "Keep - honey bees\n- combs in Honey bees dance on combs of wax."


# ---------------------------------------------------------------------------------------------- repeats


def counting() -> Any:
    """A reply that is another one for each seed."""

    def reply(handler: Handler) -> None:
        seed = handler.endpoint.asked[-1]["seed"]
        answer(f"Version {seed}.")(handler)

    return reply


def test_each_version_has_a_seed_and_an_id_of_its_own(server: Endpoint) -> None:
    server.usual = counting()
    found = made(server, repeat=3, temperature=0.7)
    assert sorted({each["seed"] for each in server.asked}) == [0, 1, 2]
    assert [(each.id, each.source, each.method, each.text) for each in found][:3] == [
        ("d1~paraphrase", "d1", "paraphrase", "Version 0."),
        ("d1~paraphrase~2", "d1", "paraphrase", "Version 1."),
        ("d1~paraphrase~3", "d1", "paraphrase", "Version 2."),
    ]
    assert found.notes[0] == "0 of 6 versions are, word for word, another one's"
    assert not any("temperature" in note for note in found.notes)


def test_versions_that_are_the_same_are_counted_and_a_temperature_of_0_is_said(server: Endpoint) -> None:
    server.usual = answer("The same.")
    notes = made(server, repeat=2).notes
    assert notes[0] == "2 of 4 versions are, word for word, another one's"
    assert any(note.startswith("the temperature is 0") for note in notes)


def test_versions_that_are_answered_are_not_asked_again(server: Endpoint, tmp_path: Path) -> None:
    store = tmp_path / "answers.sqlite"
    for repeat in (2, 3):
        made(server, repeat=repeat, store=store)
    assert len(server.asked) == 6


def test_a_forecast_counts_all_versions(server: Endpoint) -> None:
    options = ReformulateOptions(via="paraphrase", repeat=3, endpoint=Asked(server.url, "small"))
    assert forecast(CORPUS, options).requests == 6
    assert server.asked == []


@pytest.mark.wordnet
def test_synonyms_differ_by_version_and_a_name_stands_in_ids() -> None:
    found = reformulate(Corpus.of(DOCUMENTS), "synonyms", share=0.5, repeat=2, name="words")
    assert [each.id for each in found][:2] == ["d1~words", "d1~words~2"]
    assert {each.method for each in found} == {"words"}


def test_sentences_change_their_order_and_nothing_else() -> None:
    text = "Bees fly. They dance, e.g. in a hive. Then they sleep. So do wasps."
    documents: list[dict[str, Any]] = [
        {"id": "d1", "title": "On bees", "text": text},
        {"id": "d2", "text": "One sentence."},
    ]
    found = reformulate(Corpus.of(documents), "order", repeat=2)
    first, second = (each for each in found if each.source == "d1")
    for each in (first, second):
        assert each.title == "On bees"
        assert each.text != text
        assert sorted(str(each.text).split()) == sorted(text.split())
        assert "They dance, e.g. in a hive." in str(each.text)
    assert first.text != second.text
    assert reformulate(Corpus.of(documents), "order", repeat=2).records == found.records
    assert "1 document of fewer than two sentences left out" in found.notes


def test_an_id_that_is_taken_by_a_later_version_is_refused(server: Endpoint) -> None:
    taken = Corpus.of([*DOCUMENTS, {"id": "d1~paraphrase~2", "text": "x"}])
    with pytest.raises(InputError, match="has a document 'd1~paraphrase~2' already"):
        reformulate(taken, "paraphrase", endpoint=Asked(server.url, "small"), repeat=2)


def test_the_methods_of_versions_are_told_by_their_ids(server: Endpoint) -> None:
    server.usual = counting()
    found = made(server, repeat=2, temperature=1.0)
    names = [*(each["id"] for each in DOCUMENTS), *(each.id for each in found)]
    run = karat.Run.of(({"id": name, "keyphrases": ["bees"]} for name in names), "run")
    result = karat.homogeneity(CORPUS, found.pairs(), run, reformulations=found.as_corpus(), resamples=9)
    assert {row["method"] for row in result.pair_rows()} == {"paraphrase"}
    assert result.pairs == 4


def test_the_command_writes_versions_and_says_which_options_a_method_has(folder: Path, server: Endpoint) -> None:
    server.usual = counting()
    asked = ("--repeat", "2", "--temperature", "0.5", "--language", "french", "--pairs", "pairs.jsonl")
    done = ran(folder, server, *asked, "--candidates", "references", "--name", "said")
    assert done.returncode == 0, done.stderr
    assert [row["id"] for row in records(folder / "new.jsonl")][:2] == ["d1~said", "d1~said~2"]
    assert len(records(folder / "pairs.jsonl")) == 12
    assert "in French" in server.prompts()[0]
    (folder / "model").mkdir()
    done = ran(folder, server, "--language", "french", "--forward", "model", "--backward", "model", via="marian")
    assert (done.returncode, "--language is for --via" in done.stderr) == (2, True)


# ---------------------------------------------------------------------------------------------- predictions


def test_candidates_stand_in_the_prompt_of_a_prediction(server: Endpoint, tmp_path: Path) -> None:
    server.usual = answer("bees\ndancing")
    asking = Asking(Asked(server.url, "small"), candidates="firstphrases", concurrency=1)
    run = karat.predict(CORPUS, "llm:small", asking=asking)
    assert "- honey bees" in server.prompts()[0].lower()
    assert [each.keyphrases for each in run] == [["bees", "dancing"]] * 2
    with pytest.raises(InputError, match="would give the answers away"):
        karat.predict(CORPUS, "llm:small", asking=Asking(Asked(server.url, "small"), candidates="references"))


def test_a_language_model_that_is_asked_several_times_gives_runs_to_compare(folder: Path, server: Endpoint) -> None:
    server.usual = counting()

    def command(*given: str) -> subprocess.CompletedProcess[str]:
        whole = [sys.executable, "-c", COMMAND, *given]
        return subprocess.run(
            whole, cwd=folder, env=environment(server), capture_output=True, encoding="utf-8", timeout=PATIENCE
        )

    done = command("predict", "llm:small", "corpus.jsonl", "--repeat", "3", "--no-logprobs", "-o", "run.jsonl")
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == 18
    paths = ("run.jsonl", "run.2.jsonl", "run.3.jsonl")
    assert [records(folder / path)[0]["keyphrases"] for path in paths] == [[f"Version {n}"] for n in range(3)]
    found = karat.repeats(folder / "corpus.jsonl", *(folder / path for path in paths))
    assert {row["hooper"] for row in found.rows()} == {0.0}
    assert {round(row["rodgers"], 4) for row in found.rows()} == {round(1 / 3, 4)}
    shown = command("pairs", "repeats", "corpus.jsonl", *paths)
    assert "mean of every two" in shown.stdout
    done = command("predict", "llm:small", "corpus.jsonl", "--repeat", "2")
    assert (done.returncode, "needs a file: -o RUN.jsonl" in done.stderr) == (2, True)

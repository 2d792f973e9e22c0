"""Runs of models: in order, on any number of processes, kept as they come, and going on after a kill."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import karat
from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.formats.checksums import verify_line
from karat.models.extractors.frequencies import Frequencies
from karat.models.find import parse_model
from karat.models.run import CHUNK, Predicted, PredictOptions, predicted
from karat.options import WorkOptions, options_from
from karat.text.languages import other_language
from tests.models.papers import encrypted, pdf_of
from tests.waiting import until

TEXTS = [f"Bee number {n} dances in the hive and tells the others of the flowers." for n in range(100)]
CORPUS = Corpus.of([{"id": f"d{n}", "title": f"Bee {n}", "text": text} for n, text in enumerate(TEXTS)], "bees")


def third_word(documents: Sequence[Document]) -> list[list[tuple[str, float]]]:
    return [[((document.text or "").split()[2], 1.0)] for document in documents]


def ran(corpus: Corpus, **options: object) -> Predicted:
    return predicted(corpus, parse_model(third_word), options_from(PredictOptions, options))


def test_a_run_has_every_document_in_order_on_any_number_of_processes() -> None:
    done: list[int] = []
    alone = ran(CORPUS, progress=done.append)
    assert [entry.prediction.keyphrases for entry in alone.entries] == [[str(n)] for n in range(100)]
    assert (sum(done), done[0]) == (100, CHUNK)
    assert ran(CORPUS, jobs=3).entries == alone.entries
    run = karat.predict(CORPUS, third_word)
    assert (run.name, run.ids) == ("third_word", CORPUS.ids)


def test_documents_without_ids_stay_without() -> None:
    run = karat.predict(Corpus.of([{"text": "a b c"}, {"text": "d e f"}]), third_word)
    assert [(each.id, each.keyphrases) for each in run] == [(None, ["c"]), (None, ["f"])]


def test_two_documents_with_one_id_are_an_error() -> None:
    with pytest.raises(InputError, match="two documents have the id 'd1'; ids are to differ"):
        karat.predict(Corpus.of([{"id": "d1", "text": "a b c"}, {"id": "d1", "text": "d e f"}]), third_word)


def test_a_text_is_extracted_from_with_karats_own_models() -> None:
    text = "Neural networks learn. Neural networks are trained on corpora."
    counts = Frequencies(1023, {"neural network": 0, "neural": 511, "network": 511, "corpora": 1023})
    found = karat.extract(text, "tfidf", n=2, frequencies=counts, options={"n": 2})
    assert found == [("neural networks", 20.0), ("networks learn", 10.0)]  # twice and once, log2(1024 / 1)
    stems = karat.extract(text, "tfidf", n=1, frequencies=counts, options={"n": 2}, stem=True, title="On")
    assert stems == [("neural network", 20.0)]
    with pytest.raises(InputError, match="tfidf needs to know in how many documents a phrase occurs"):
        karat.extract(text, "tfidf")


def test_the_corpus_itself_tells_frequencies_where_nothing_else_does() -> None:
    corpus = Corpus.of([{"id": "d1", "text": "bees"}, {"id": "d2", "text": "bees, wasps"}])
    found = predicted(corpus, parse_model("tfidf"), PredictOptions(n=1))
    assert found.notes == ("document frequencies are those of the 2 documents at hand; --df names others",)
    assert found.rows()[1] == {
        "corpus": "corpus",
        "system": "tfidf",
        "id": "d2",
        "title": None,
        "keyphrases": ["wasps"],
        "scores": [pytest.approx(0.5849625007211562)],  # log2(3 / 2)
    }


def test_frequencies_come_from_files_of_several_kinds(tmp_path: Path) -> None:
    counts = {"--NB_DOC--": 3, "bee": 3, "hive": 1}
    (tmp_path / "a.json").write_text(json.dumps(counts))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps({"df": counts}).encode()))
    (tmp_path / "c.json").write_text(json.dumps({"documents": 3, "df": {"bee": 3, "hive": 1}}))
    (tmp_path / "d.tsv.gz").write_bytes(gzip.compress(b"--NB_DOC--\t3\nbee\t3\nhive\t1\n"))
    (tmp_path / "e.jsonl").write_text('{"text": "bees in a hive"}\n{"text": "bees"}\n{"text": "a bee"}\n')
    for name in ("a.json", "b.json.gz", "c.json", "d.tsv.gz", "e.jsonl"):
        found = karat.extract("the hive", "tfidf", frequencies=tmp_path / name)
        assert found == [("hive", 1.0)], name  # log2(4 / 2)
    with pytest.raises(InputError, match=r"none\.json: there is no such file"):
        karat.extract("the hive", "tfidf", frequencies=tmp_path / "none.json")


def test_empty_documents_and_those_without_phrases_are_counted(tmp_path: Path) -> None:
    (tmp_path / "locked.pdf").write_bytes(encrypted(pdf_of([["On Bees", "They fly over the field."]])))
    (tmp_path / "none.txt").write_text("of and the\n")
    (tmp_path / "some.txt").write_text("Bees dance in the hive.")
    (tmp_path / "void.txt").write_text("  \n")
    found = predicted(str(tmp_path), parse_model("tfidf"), PredictOptions(frequencies=Frequencies(9, {})))
    assert [(entry.prediction.id, bool(entry.prediction.keyphrases)) for entry in found.entries] == [
        ("none", False),
        ("some", True),
        ("void", False),
    ]
    assert [note.replace(str(tmp_path), "") for note in found.notes] == [
        "skipped 1 file that cannot be read, locked.pdf: this PDF is encrypted; save it without a password first",
        "1 document has no text, so that nothing is predicted (first document 'void')",
        "1 document has a text, but the model found no phrase, so that nothing is predicted (first document 'none')",
    ]


def test_another_language_than_the_one_said_is_remarked_upon() -> None:
    french = "Les abeilles dansent dans la ruche et elles disent aux autres que les fleurs sont dans le pré."
    corpus = Corpus.of([{"id": n, "text": french} for n in range(3)])
    known = Frequencies(9, {})
    found = predicted(corpus, parse_model("tfidf"), PredictOptions(frequencies=known, language="english"))
    assert found.notes == ("the texts look French, not English: see --language",)
    guessed = predicted(corpus, parse_model("tfidf"), PredictOptions(frequencies=known))
    assert guessed.notes == ("the texts look French, and are read as such; --language french pins it",)
    assert [entry.prediction for entry in guessed.entries] == [
        entry.prediction
        for entry in predicted(corpus, parse_model("tfidf"), PredictOptions(frequencies=known, language="fr")).entries
    ]
    assert other_language([french] * 3, "french") is None
    assert other_language(["Les abeilles."], "english") is None  # too few words
    assert other_language(["qwertz uiop " * 50], "english") is None  # no language at all


# ---------------------------------------------------------------------------------------------- plug-ins that fail


def picky(documents: Sequence[Document]) -> list[list[str]]:
    if any(document.id == "d40" for document in documents):
        raise ValueError("no number 40")
    return [["bee"] for _ in documents]


def test_a_plug_in_that_fails_names_the_document_and_keeps_what_came_before(tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    for jobs in (1, 2):
        found = predicted(CORPUS, parse_model(picky), PredictOptions(work=WorkOptions(jobs=jobs)), output=str(target))
        assert found.failure is not None
        assert found.failure.startswith(
            "picky fails on document 'd40': ValueError: no number 40 (test_running.py, line "
        )
        assert found.failure.endswith("run.jsonl.part; the same command goes on from there")
        assert not target.exists()
        lines = (tmp_path / "run.jsonl.part").read_bytes().splitlines()[1:]
        assert [json.loads(verify_line(line) or b"")["id"] for line in lines] == [f"d{n}" for n in range(40)]
    with pytest.raises(InputError, match="picky fails on document 'd40'"):
        karat.predict(CORPUS, picky)


def test_a_plug_in_that_fails_on_many_but_on_none_alone_is_asked_one_by_one() -> None:
    def one_at_a_time(documents: Sequence[Document]) -> list[list[str]]:
        [document] = documents
        return [[str(document.id)]]

    assert [each.keyphrases for each in karat.predict(CORPUS, one_at_a_time)][:2] == [["d0"], ["d1"]]


def test_a_wrong_number_of_results_is_not_taken_one_by_one() -> None:
    with pytest.raises(InputError, match=f"1 results for {CHUNK} documents"):
        karat.predict(CORPUS, lambda documents: [["bee"]])


# ---------------------------------------------------------------------------------------------- going on


def test_another_model_or_corpus_does_not_go_on_with_what_was_begun(tmp_path: Path) -> None:
    target = str(tmp_path / "run.jsonl")
    predicted(CORPUS, parse_model(picky), PredictOptions(), output=target)
    found = predicted(CORPUS, parse_model(third_word), PredictOptions(), output=target)
    assert found.provenance == (f"{target}.part was of another model, other options or other documents: begun anew",)
    assert [json.loads(line)["keyphrases"] for line in Path(target).read_text().splitlines()][:2] == [["0"], ["1"]]
    assert not Path(f"{target}.part").exists()
    others = Corpus.of([{"id": "d0", "text": "other bees"}])
    for options, corpus in ((PredictOptions(n=5), CORPUS), (PredictOptions(), others)):
        predicted(CORPUS, parse_model(picky), PredictOptions(), output=target)
        found = predicted(corpus, parse_model(picky), options, output=target)
        assert any("begun anew" in note for note in found.provenance)


@pytest.mark.parametrize("line", [1, 2, 20])
def test_documents_are_predicted_again_from_a_damaged_line_on(line: int, tmp_path: Path) -> None:
    target, whole = tmp_path / "run.jsonl", tmp_path / "whole.jsonl"
    failing = True

    def numbers(documents: list[Document]) -> list[list[str]]:
        if failing and any(document.id == "d40" for document in documents):
            raise ValueError("no more")
        return [[str(document.id)] for document in documents]

    predicted(CORPUS, parse_model(numbers), PredictOptions(), output=str(target))
    failing = False
    part = tmp_path / "run.jsonl.part"
    lines = part.read_bytes().splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b'"', b"'", 1)
    part.write_bytes(b"".join(lines))
    found = predicted(CORPUS, parse_model(numbers), PredictOptions(), output=str(target))
    damage = f"{part}: line {line} was damaged or incomplete; documents from there on were predicted again"
    assert found.provenance[-1] == damage
    assert found.notes == predicted(CORPUS, parse_model(numbers), PredictOptions(), output=str(whole)).notes
    assert target.read_bytes() == whole.read_bytes()


COMMAND = "from karat.cli import main; main()"
SLOW = """
import os, time
def slowly(documents):
    # It waits for ever at one document, until a file says that it may go on.
    for document in documents:
        while document.id == "d70" and not os.path.exists("go"):
            open("waits", "w").close()
            time.sleep(0.02)
    return [[(document.text.split()[2], 0.5), ("bée", 0.25)] for document in documents]
"""


def test_a_command_that_is_killed_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    karat.write(CORPUS, tmp_path / "corpus.jsonl")
    (tmp_path / "slow_models.py").write_text(SLOW)
    arguments = ["predict", "./slow_models.py:slowly", "corpus.jsonl", "-o", "run.jsonl.gz"]
    environment = os.environ | {"PYTHONPATH": str(Path(karat.__file__).parents[1])}
    with subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], cwd=tmp_path, env=environment) as process:
        until(lambda: (tmp_path / "waits").exists() or process.poll() is not None, "it does not begin")
        process.send_signal(signal.SIGKILL)
    part = tmp_path / "run.jsonl.gz.part"
    assert len(part.read_bytes().splitlines()) == 1 + 2 * CHUNK
    with part.open("ab") as file:
        file.write(b'{"id":"d64","keyphr')  # what a kill in the middle of a line leaves
    assert not (tmp_path / "run.jsonl.gz").exists()

    (tmp_path / "go").touch()
    monkeypatch.chdir(tmp_path)
    model = parse_model("./slow_models.py:slowly")
    found = predicted("corpus.jsonl", model, PredictOptions(), output="run.jsonl.gz")
    assert found.notes == ()
    assert found.provenance == (
        "went on after 64 documents that were there already",
        "run.jsonl.gz.part: line 66 was damaged or incomplete; documents from there on were predicted again",
    )
    assert [entry.title for entry in found.entries] == [f"Bee {n}" for n in range(100)]
    assert predicted("corpus.jsonl", model, PredictOptions(), output="whole.jsonl.gz").notes == ()
    assert (tmp_path / "run.jsonl.gz").read_bytes() == (tmp_path / "whole.jsonl.gz").read_bytes()
    assert not part.exists()
    assert [each.keyphrases for each in karat.read_run("run.jsonl.gz")] == [[str(n), "bée"] for n in range(100)]

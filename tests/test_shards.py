"""Shards of a scoring: sixteen of them are the whole, and what is no shard of it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from benchmarks.made_corpus import write_corpus
from karat.results.files import encode, load
from karat.results.merge import merge
from tests.forked import command

N = 16


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus of 500 documents, a run, and the sixteen shards of their scores."""
    folder = tmp_path_factory.mktemp("made")
    write_corpus(folder, 500, seed=24)
    for index in range(1, N + 1):
        scored(folder, shard=f"{index}/{N}").save(folder / f"part{index}.karat")
    return folder


def scored(folder: Path, **options: Any) -> karat.Results:
    return karat.score(folder / "corpus.jsonl", folder / "run.jsonl", protocol=["karat", "chan2019"], **options)


def merged(folder: Path, *names: str) -> str:
    """What the command says of files that cannot be merged."""
    done = command(folder, "results", "merge", *names, "-o", "all.karat")
    assert done.returncode == 2, done.stderr
    assert not (folder / "all.karat").exists()
    return done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_sixteen_shards_are_the_whole_to_the_byte(made: Path, tmp_path: Path, jobs: int) -> None:
    whole = scored(made, jobs=jobs)
    parts = [load(made / f"part{index}.karat") for index in range(N, 0, -1)]
    assert encode(merge(parts)) == encode(whole)
    names = [str(made / f"part{index}.karat") for index in range(1, N + 1)]
    done = command(tmp_path, "results", "merge", *names, "-f", "json", "-o", "all.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "all.json").read_text()) == json.loads(json.dumps(whole.as_dict()))


def test_a_missing_shard_and_one_that_is_there_twice_are_named(made: Path) -> None:
    names = [f"part{index}.karat" for index in range(1, N + 1)]
    assert merged(made, *names[:4], *names[5:]) == "karat: shard 5/16 is missing\n"
    assert merged(made, *names[:4], names[0], *names[5:]) == (
        "karat: shard 5/16 is missing; shard 1/16 is there twice\n"
    )
    assert merged(made, *names, names[2]) == "karat: shard 3/16 is there twice\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protocol": "karat"}, "its protocols have none where the other has chan2019"),
        ({"protocol": ["karat", "chan2019,stemmer=none"]}, "have chan2019,stemmer=none where the other has chan2019"),
        ({"metrics": ["f1@5:present", "map"]}, "its metrics have map:all/mean where the other has f1@M:present/"),
        ({"averages": True}, "its metrics have f1@5:present/"),
        ({"language": "french"}, "its protocols have karat,stemmer=french where the other has karat"),
    ],
)
def test_what_another_shard_was_scored_by_is_named(made: Path, options: dict[str, Any], said: str) -> None:
    parts = [load(made / f"part{index}.karat") for index in range(1, N)]
    other = karat.score(
        made / "corpus.jsonl", made / "run.jsonl", **({"protocol": ["karat", "chan2019"]} | options), shard=f"16/{N}"
    )
    with pytest.raises(karat.InputError) as error:
        merge([*parts, other])
    assert str(error.value).startswith("shard 16/16 was scored otherwise than shard 1/16: its ")
    assert said in str(error.value)


def test_another_system_or_reference_set_is_named(made: Path) -> None:
    parts = [load(made / f"part{index}.karat") for index in range(1, N)]
    run = karat.read_run(made / "run.jsonl", name="t5")
    other = karat.score(made / "corpus.jsonl", run, protocol=["karat", "chan2019"], shard=f"16/{N}")
    with pytest.raises(karat.InputError, match="its systems have t5 where the other has run"):
        merge([*parts, other])
    documents = [
        {"id": each.id, "text": each.text, "keyphrases": each.keyphrases, "reference_sets": {"b": ["a"]}}
        for each in karat.read(made / "corpus.jsonl")
    ]
    corpus = karat.Corpus.of(documents, "corpus")
    other = karat.score(corpus, made / "run.jsonl", protocol=["karat", "chan2019"], shard=f"16/{N}", references="b")
    with pytest.raises(karat.InputError, match="its signatures have set=b where the other has set=keyphrases"):
        merge([*parts, other])


def test_shards_of_other_documents_are_refused(made: Path, tmp_path: Path) -> None:
    parts = [load(made / f"part{index}.karat") for index in range(1, N)]
    write_corpus(tmp_path, 300, seed=24)
    with pytest.raises(karat.InputError, match="shard 16/16 has 18 documents, shard 1/16 has 32: these are not"):
        merge([*parts, scored(tmp_path, shard=f"16/{N}")])
    first = parts[0]
    twice = karat.Results(
        first.scores, first.ids, first.signatures, first.tallies, first.remarks, karat.results.Part(2, 2)
    )
    half = karat.Results(
        first.scores, first.ids, first.signatures, first.tallies, first.remarks, karat.results.Part(1, 2)
    )
    with pytest.raises(karat.InputError, match=r"the document 'd0000001' is in shard 1/2 and in shard 2/2"):
        merge([half, twice])


def test_a_shard_that_was_cut_off_is_named_by_its_file(made: Path, tmp_path: Path) -> None:
    """A killed process leaves no file; one that is cut off by a copy is seen."""
    for index in range(1, N + 1):
        content = (made / f"part{index}.karat").read_bytes()
        (tmp_path / f"part{index}.karat").write_bytes(content[: len(content) // 2] if index == 7 else content)
    said = merged(tmp_path, *(f"part{index}.karat" for index in range(1, N + 1)))
    assert said.startswith("karat: part7.karat: not a .karat file, or damaged")

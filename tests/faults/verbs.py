"""Every verb with its arguments, and a folder with an input of every kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any, Literal

import click

import karat
from karat.cli import karat as command
from tests import forked
from tests.commands import leaves

DOCUMENTS = 6
HELP = ["-h", "--help"]  # click keeps the flag of the help that it makes first


COMMANDS = dict(leaves(command))

CORPUS_AND_RUNS = {"corpus": "corpus.jsonl", "runs": "a.jsonl b.jsonl"}
GIVEN = {"given": "corpus.jsonl a.jsonl b.jsonl"}
# The parameters without which a verb is refused before it looks at its files.
REQUIRED: dict[str, Mapping[str, str]] = {
    "annotate sheets": CORPUS_AND_RUNS | {"task": "phrase", "output": "new"},
    "annotate collect": {"study": "study"},
    "audit": CORPUS_AND_RUNS,
    "compare": GIVEN,
    "concepts": CORPUS_AND_RUNS | {"vocabulary": "vocabulary.txt"},
    "confidence": CORPUS_AND_RUNS,
    "consistency": {"runs": "a.jsonl b.jsonl"},
    "corpus convert": {"corpus": "corpus.jsonl"},
    "corpus df": {"corpus": "corpus.jsonl", "output": "df.json"},
    "run convert": {"run": "a.jsonl"},
    "run ensemble": {"runs": "a.jsonl b.jsonl", "output": "new.jsonl"},
    "run rerank": {"run": "a.jsonl", "by": "scores", "output": "new.jsonl"},
    "run show": CORPUS_AND_RUNS,
    "demo": {},
    "describe": CORPUS_AND_RUNS,
    "homogeneity": CORPUS_AND_RUNS | {"pairs": "pairs.jsonl"},
    "human": {"scores": "human.jsonl"},
    "list": {},
    "nearmiss": CORPUS_AND_RUNS,
    "overlap": CORPUS_AND_RUNS,
    "pairs mine": {"corpus": "corpus.jsonl"},
    "pairs describe": {"corpus": "corpus.jsonl", "pairs": "pairs.jsonl"},
    "pairs repeats": CORPUS_AND_RUNS,
    "pairs gather": {"files": "homogeneity.json"},
    "pairs reformulate": {"corpus": "corpus.jsonl", "via": "paraphrase", "output": "new.jsonl"},
    "pairs filter": {"corpus": "corpus.jsonl", "reformulations": "again.jsonl"},
    "pairs tables": {"corpus": "corpus.jsonl", "runs": "both.jsonl", "reformulations": "again.jsonl"},
    "plot": {"kind": "scores", **GIVEN},
    "predict": {"model": "firstphrases", "corpus": "corpus.jsonl"},
    "report": GIVEN | {"output": "new.html"},
    "reproduce": {"given": "corpus.jsonl a.jsonl", "reported": "reported.jsonl"},
    "results merge": {"files": "a.karat"},
    "results check": {"file": "a.karat"},
    "results tables": {"kind": "averages", "files": "a.karat"},
    "retrieval": {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.txt", "runs": "a.jsonl"},
    "score": GIVEN,
    "table": {"given": "corpus.jsonl", "runs": "runs"},
    "train": {"model": "kea", "corpus": "corpus.jsonl", "output": "new.json"},
    "vocabulary map": {"run": "a.jsonl", "vocabulary": "vocabulary.txt", "output": "new.jsonl"},
    "vocabulary show": {"vocabulary": "vocabulary.txt"},
}

# Commands that work: each verb, and each kind of input that is not read as the others are.
VERBS: Sequence[tuple[str, str]] = [
    ("annotate sheets", "corpus.jsonl a.jsonl b.jsonl --task phrase --annotators 2 -o out/study"),
    ("annotate sheets", "papers/docs keys --task reference --annotators 2 -o out/other"),
    ("annotate collect", "study --scores out/scores.jsonl --adjudicate out/sheet.html"),
    ("annotate collect", "phrases phrases/ana.json --accepted accepted.csv"),
    ("annotate collect", "phrases phrases/ana.json --accepted accepted.csv"),
    ("audit", "corpus.jsonl a.jsonl --protocol chan2019 -o out/audit.json"),
    ("compare", "corpus.jsonl a.jsonl b.jsonl -m f1@5 -o out/compare.json"),
    ("compare", "corpus.jsonl --runs runs -m f1@5 --extra-references review.csv"),
    ("concepts", "corpus.jsonl a.jsonl --vocabulary vocabulary.txt"),
    ("confidence", "corpus.jsonl a.jsonl --fit-corpus corpus.jsonl --fit-run a.jsonl --calibrate platt"),
    ("consistency", "a.jsonl b.jsonl --vocabulary vocabulary.txt --model vectors:words.vec"),
    ("corpus convert", "papers -o out/corpus.jsonl"),
    ("corpus convert", "papers/docs+papers/docs -o out/corpus.csv"),
    ("corpus convert", "corpus.jsonl --to chan --lossy -o out/c.src+out/c.trg"),
    ("corpus convert", "corpus.jsonl --to inspec --lossy -o out/inspec"),
    ("corpus convert", "out/inspec -o out/inspec.parquet"),
    ("corpus convert", "out/inspec.parquet -o out/inspec.jsonl.gz"),
    ("corpus convert", "out/inspec.jsonl.gz -o out/inspec.tsv"),
    ("corpus df", "papers -o out/df.json"),
    ("run convert", "a.jsonl -o out/a.csv"),
    ("run convert", "keys -o out/keys.jsonl --corpus papers"),
    ("run ensemble", "a.jsonl b.jsonl -o out/both.jsonl"),
    ("run rerank", "a.jsonl --by scores -o out/rerank.jsonl"),
    ("run show", "corpus.jsonl a.jsonl --id d0"),
    ("demo", ""),
    ("describe", "papers -o out/describe.json"),
    ("describe", "corpus.jsonl a.jsonl --train papers"),
    ("homogeneity", "corpus.jsonl pairs.jsonl a.jsonl b.jsonl --pairs-out out/pairs.jsonl"),
    ("human", "human.jsonl -m chrf --learn out/weights.json"),
    ("list", "models model"),
    ("nearmiss", "corpus.jsonl a.jsonl --all-pairs out/near.csv"),
    ("nearmiss", "corpus.jsonl a.jsonl --score cosine,model=vectors:words.vec"),
    ("nearmiss", "corpus.jsonl a.jsonl --score file:scores.tsv"),
    ("overlap", "corpus.jsonl a.jsonl b.jsonl --review review.csv --documents-out out/documents.csv"),
    ("pairs mine", "corpus.jsonl --min 0.01 -o out/mined.jsonl"),
    ("pairs describe", "corpus.jsonl pairs.jsonl"),
    ("pairs repeats", "corpus.jsonl a.jsonl b.jsonl"),
    ("pairs gather", "homogeneity.json"),
    (
        "pairs reformulate",
        "corpus.jsonl --via paraphrase --base-url {url} --model m -o out/r.jsonl --pairs out/p.jsonl",
    ),
    (
        "pairs reformulate",
        "corpus.jsonl --via paraphrase --base-url {url} --model m -o out/r.jsonl --pairs out/p.jsonl",
    ),
    ("pairs filter", "corpus.jsonl again.jsonl --length 0.9 -o out/filter.jsonl"),
    ("pairs tables", "corpus.jsonl both.jsonl --reformulations again.jsonl --length 0.99"),
    ("plot", "scores corpus.jsonl a.jsonl b.jsonl -m f1@5 -o out/scores.svg"),
    ("plot", "training model -o out/training.svg"),
    ("predict", "firstphrases corpus.jsonl -o out/first.jsonl"),
    ("predict", "firstphrases papers -o out/first.csv"),
    ("predict", "firstphrases papers/d0.txt -o out/one.jsonl"),
    ("predict", "tfidf corpus.jsonl --df out/df.json -o out/tfidf.jsonl"),
    ("predict", "tfidf corpus.jsonl --df papers -o out/tfidf.jsonl"),
    ("predict", "kea,model=kea.json corpus.jsonl -o out/kea.jsonl"),
    ("predict", "./plug_in.py:words corpus.jsonl -o out/plug.jsonl"),
    ("predict", "firstphrases corpus.jsonl --vocabulary vocabulary.txt -o out/terms.jsonl"),
    ("predict", "embedrank,model=vectors:words.vec corpus.jsonl -o out/embed.jsonl"),
    (
        "predict",
        "llm:m corpus.jsonl --base-url {url} --prompt prompt.txt --shots papers:1 --key-file key.txt -o out/llm.jsonl",
    ),
    ("predict", "llm:m corpus.jsonl --base-url {url} --candidates a.jsonl --answers out/store.sqlite -o out/l.jsonl"),
    ("report", "corpus.jsonl a.jsonl b.jsonl --pairs pairs.jsonl --figures out/f -o out/r.html"),
    ("report", "papers --models firstphrases,./plug_in.py:words --keep-runs out/runs -o out/m.html"),
    ("report", "papers --models firstphrases,./plug_in.py:words --keep-runs out/runs -o out/m.html"),
    ("reproduce", "corpus.jsonl a.jsonl --reported reported.jsonl --budget 2"),
    ("results merge", "a.karat other.karat -o out/both.karat --documents-out out/d.csv"),
    ("results check", "a.karat --min f1@5=0 --no-worse-than a.karat"),
    ("results tables", "averages averages.karat -m f1@5"),
    ("retrieval", "corpus.jsonl queries.jsonl qrels.txt a.jsonl --resamples 20 --rankings out/rankings"),
    ("score", "corpus.jsonl a.jsonl -m f1@5 --documents-out out/s.csv -o out/s.karat"),
    ("score", "corpus.jsonl --runs runs -m f1@5"),
    ("score", "papers/docs keys -m f1@5"),
    ("score", "corpus.jsonl a.jsonl -m soft_f,score=file:scores.tsv"),
    ("table", "corpus.jsonl --runs runs -m f1@5:present -o out/t.tex"),
    ("train", "kea corpus.jsonl -o out/kea.json"),
    ("vocabulary map", "a.jsonl --vocabulary vocabulary.txt -o out/map.jsonl"),
    ("vocabulary show", "vocabulary.txt -o out/v.json"),
]


def parameters(verb: str) -> Sequence[click.Parameter]:
    """Return the arguments and flags of a verb."""
    found = COMMANDS[verb]
    return found.get_params(click.Context(found, help_option_names=HELP))


def words_of(verb: str, changes: Mapping[str, str]) -> list[str]:
    """Return the words of a command with the parameters that it requires, and others."""
    values = {**REQUIRED[verb], **changes}
    words, flags = verb.split(), list[str]()
    for parameter in parameters(verb):
        value = values.pop(str(parameter.name), None)
        if value is None:
            continue
        if isinstance(parameter, click.Argument):
            words += value.split(" ")
        else:
            flags += [f"{parameter.opts[-1]}", value]
    assert not values, f"{verb} has no {', '.join(values)}"
    return [*words, *flags]


# ---------------------------------------------------------------------------------------------- files

PLUG_IN = "def words(documents):\n    return [[document.text.split()[0]] for document in documents]\n"
PHRASES = ("honey bees", "swarm", "grid computing", "load balancing", "nests", "june")

STUDIES: Mapping[Literal["set", "phrase"], str] = {"set": "study", "phrase": "phrases"}  # their folders, by task


def populate(folder: Path) -> Path:
    """Write an input of every kind into a folder and return the folder."""

    def write(name: str, records: Sequence[Mapping[str, Any]]) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{json.dumps(each)}\n" for each in records))

    ids = [f"d{n}" for n in range(DOCUMENTS)]
    lists = [[PHRASES[(n + i) % len(PHRASES)] for i in range(4)] for n in range(DOCUMENTS)]
    texts = [f"Of {', '.join(phrases[:3])}. They are many in June, and all are counted." for phrases in lists]
    documents = [
        {"id": i, "title": phrases[0], "text": text, "keyphrases": phrases[:3]}
        for i, text, phrases in zip(ids, texts, lists, strict=True)
    ]
    write("corpus.jsonl", documents)
    for name, shift in (("a", 1), ("b", 2)):
        run = [
            {"id": i, "keyphrases": phrases[shift:], "scores": [0.9 - 0.2 * k for k in range(len(phrases) - shift)]}
            | {"token_probs": [[0.9 - 0.2 * k] for k in range(len(phrases) - shift)]}
            for i, phrases in zip(ids, lists, strict=True)
        ]
        write(f"{name}.jsonl", run)
        write(f"runs/corpus/{name}.jsonl", run)
    for place in ("papers", "papers/docs", "keys", "inputs", "out", "model"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    for i, text, phrases in zip(ids, texts, lists, strict=True):
        for place in ("papers", "papers/docs"):
            (folder / place / f"{i}.txt").write_text(text)
            (folder / place / f"{i}.key").write_text("\n".join(phrases[:2]) + "\n")
        (folder / "keys" / f"{i}.key").write_text("\n".join(phrases[1:]) + "\n")
    _write_tables(folder, write, ids)
    card = {"format": "karat generator 1", "model": "copyrnn", "karat": "0", "language": "english", "options": {}}
    card |= {"settings": {}, "corpus": {"name": "corpus", "hash": "0", "documents": 9}, "steps": 20}  # type: ignore[dict-item]
    for place in ("model", "inputs"):
        (folder / place / "model.json").write_text(json.dumps(card))
    write("model/log.jsonl", [{"step": 10, "documents": 160, "loss": 4.5, "valid": 3.9, "rate": 0.001}])
    (folder / "plug_in.py").write_text(PLUG_IN)
    _write_results(folder)
    return folder


def _write_tables(folder: Path, write: Any, ids: Sequence[str]) -> None:
    """Write pairs, judgements, queries, vocabularies, vectors and texts for endpoints."""
    write("pairs.jsonl", [{"a": a, "b": b} for a, b in pairwise(ids)])
    again = [
        {"id": f"{i}~p", "source": i, "method": "by hand", "title": "", "text": "Honey bees swarm in June."}
        for i in ids
    ]
    write("again.jsonl", again)
    write("both.jsonl", [{"id": i, "keyphrases": ["honey bees"]} for i in (*ids, *(each["id"] for each in again))])
    write("queries.jsonl", [{"id": f"q{n}", "text": phrase} for n, phrase in enumerate(PHRASES)])
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 {i} 1\n" for n, i in enumerate(ids)))
    write(
        "human.jsonl",
        [
            {"prediction": f"{one} {n}", "reference": f"{other} {n}", "annotator": who, "score": 1 + (n * step) % 4}
            for step, who in ((1, "ana"), (2, "ben"))
            for n, (one, other) in enumerate(product(PHRASES, PHRASES))
        ],
    )
    write("reported.jsonl", [{"system": "a", "metric": "f1@5", "subset": "all", "value": "0.50"}])
    (folder / "vocabulary.txt").write_text("\n".join(PHRASES) + "\n")
    rows = "".join(f"{one}\t{other}\t{float(one == other)}\n" for one in PHRASES for other in PHRASES)
    (folder / "scores.tsv").write_text(f"prediction\treference\tscore\n{rows}")
    words = sorted({word for phrase in PHRASES for word in phrase.split()})
    vectors = "".join(f"{word} {n} 1 {n % 2}\n" for n, word in enumerate(words))
    (folder / "words.vec").write_text(f"{len(words)} 3\n{vectors}")
    (folder / "prompt.txt").write_text("{examples}\nKeyphrases of: {text}\n")
    (folder / "key.txt").write_text("k-1\n")
    (folder / "key.txt").chmod(0o600)


def _write_results(folder: Path) -> None:
    """Write what other verbs make of the files: results, a review, a trained model, two studies with answers."""
    corpus, runs = str(folder / "corpus.jsonl"), [str(folder / "a.jsonl"), str(folder / "b.jsonl")]
    karat.score(corpus, runs[0], metrics=["f1@5"]).save(folder / "a.karat")
    karat.score(f"other={corpus}", runs[0], metrics=["f1@5"]).save(folder / "other.karat")
    karat.score(corpus, *runs, metrics=["f1@5", "f1@5/micro"]).save(folder / "averages.karat")
    homogeneity = karat.homogeneity(corpus, folder / "pairs.jsonl", *runs, resamples=20)
    (folder / "homogeneity.json").write_text(json.dumps(homogeneity.as_dict()))
    (folder / "review.csv").write_text("id,phrase,systems,accept\nd0,load balancing,a,yes\n")
    assert forked.command(folder, "train", "kea", "corpus.jsonl", "-o", "kea.json").returncode == 0
    for task, place in STUDIES.items():
        sheets = karat.annotation_sheets(corpus, *runs, task=task, annotators="ana,ben")
        sheets.save(folder / place)
        for name, items in sheets.study.annotators.items():
            answers = {str(n): {"answer": (1 + n * (name == "ana")) % 2, "comment": "", "at": 1} for n in items}
            head = {"karat": "annotations", "version": 1, "study": sheets.study.id, "task": task, "annotator": name}
            content = head | {"token": sheets.study.token(name), "answers": answers}
            (folder / place / f"{name}.json").write_text(json.dumps(content))

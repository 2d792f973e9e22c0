"""Random bit flips in the files that karat writes for itself: no changed output may be accepted.

    python -m tests.flips [--flips 500] [--seed 0] [NAME...]

For each kind of file a copy has one bit flipped, and the command that reads it is run again. Prints how many flips left
the output as it was (the damaged part was computed again, or does not matter), how many were refused, and how many
changed the output. `--without-checksums` is the control: the same flips in files of an earlier version.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import karat
from karat.corpus import Corpus, Document
from karat.embed.cache import Cache
from karat.errors import InputError
from karat.llm.client import endpoint
from karat.models.find import parse_model
from karat.models.prompt import Asking
from karat.models.run import PredictOptions, predicted
from karat.models.several import RECORD, predict_each
from tests.checksums import remove_checksums
from tests.pairs.server import Handler, serving

DEMO = Path(karat.__file__).parent / "demo" / "corpus.jsonl"
DOCUMENTS = [
    Document(id=each.id, title=each.title, text=each.text, keyphrases=each.keyphrases) for each in karat.read(DEMO)
]
SOME = Corpus.of(DOCUMENTS[:6], name="some")
TINY = "copyrnn,attention=general,embedding=8,hidden=8,read=60,written=30,rate=0.05"


@dataclass(frozen=True, slots=True)
class Target:
    """A file to damage, the folder of all that is read with it, and the output that depends on it."""

    folder: Path
    file: str
    output: Callable[[Path], bytes]  # raises InputError where it refuses


Prepare = Callable[[Path, ExitStack], Target]
TARGETS: dict[str, Prepare] = {}
NEURAL = (
    "weights",
    "model.json",
    "words list",
    "encoder shape",
    "tokenizer vocabulary",
    "training state",
)  # need torch


def target(name: str) -> Callable[[Prepare], Prepare]:
    """Register what prepares a target."""

    def register(prepare: Prepare) -> Prepare:
        TARGETS[name] = prepare
        return prepare

    return register


def count_outcomes(name: str, flips: int, seed: int = 0, *, checksums: bool = True) -> Counter[str]:
    """Count what becomes of bit flips at random places: same, refused or changed."""
    draw, outcomes = random.Random(f"{name} {seed}"), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="karat-flips-") as place, ExitStack() as stack:
        found = TARGETS[name](Path(place), stack)
        if not checksums:
            remove_checksums(found.folder if (found.folder / "model.json").is_file() else found.folder / found.file)
        content = (found.folder / found.file).read_bytes()
        expected = found.output(_copy(found.folder, Path(place, "undamaged")))
        for number in range(flips):
            folder = _copy(found.folder, Path(place, str(number)))
            damaged = bytearray(content)
            damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
            (folder / found.file).write_bytes(damaged)
            try:
                outcomes["same" if found.output(folder) == expected else "changed"] += 1
            except InputError:
                outcomes["refused"] += 1
            shutil.rmtree(folder)
    return outcomes


def _copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to))


# ---------------------------------------------------------------------------------------------- runs


@target("unfinished run")
def _part(place: Path, stack: ExitStack) -> Target:
    folder = place / "run"
    folder.mkdir()
    failing = True

    def first_words(documents: list[Document]) -> list[list[str]]:
        if failing and any(document.id == DOCUMENTS[-1].id for document in documents):
            raise ValueError("no more")
        return [(document.text or "").split()[:5] for document in documents]

    corpus = Corpus.of(DOCUMENTS, name="demo")

    def output(folder: Path) -> bytes:
        found = predicted(corpus, parse_model(first_words), PredictOptions(), output=str(folder / "run.jsonl"))
        if found.failure is not None:
            raise InputError(found.failure)
        return (folder / "run.jsonl").read_bytes()

    predicted(corpus, parse_model(first_words), PredictOptions(), output=str(folder / "run.jsonl"))
    failing = False
    return Target(folder, "run.jsonl.part", output)


@target("vocabulary")
def _vocabulary(place: Path, stack: ExitStack) -> Target:
    """A file of the user: an unfinished run with other terms is not resumed, nor is a kept vocabulary used."""
    folder = place / "run"
    folder.mkdir()
    (folder / "terms.txt").write_text("".join(f"{phrase}\n" for each in DOCUMENTS for phrase in each.keyphrases or ()))
    failing = True

    def references(documents: list[Document]) -> list[list[str]]:
        if failing and any(document.id == DOCUMENTS[-1].id for document in documents):
            raise ValueError("no more")
        return [[str(phrase) for phrase in document.keyphrases or ()] for document in documents]

    def run(folder: Path, name: str) -> Path:
        options = PredictOptions(vocabulary=str(folder / "terms.txt"))
        found = predicted(Corpus.of(DOCUMENTS), parse_model(references), options, output=str(folder / name))
        if found.failure is not None and not failing:
            raise InputError(found.failure)
        return folder / name

    def output(folder: Path) -> bytes:
        """Tell whether the run is that of the terms as they are now."""
        return str(run(folder, "run.jsonl").read_bytes() == run(folder, "new.jsonl").read_bytes()).encode()

    run(folder, "run.jsonl")
    failing = False
    return Target(folder, "terms.txt", output)


@target("record of runs")
def _record(place: Path, stack: ExitStack) -> Target:
    def output(folder: Path) -> bytes:
        found = predict_each(SOME, "firstphrases,tfidf", PredictOptions(), folder)
        phrases = [[each.keyphrases for each in run] for run in found.runs]
        return json.dumps([phrases, found.notes]).encode()

    output(place / "runs")
    return Target(place / "runs", f"some/{RECORD}", output)


@target("answers")
def _answers(place: Path, stack: ExitStack) -> Target:
    (place / "store").mkdir()
    server = stack.enter_context(serving())
    server.usual = _with_logprobs

    def output(folder: Path) -> bytes:
        asked = endpoint(server.url, "small", first_delay=0.0, tries=1, logprobs=True)
        asking = Asking(asked, store=str(folder / "answers.sqlite"))
        found = predicted(SOME, parse_model("llm:small"), PredictOptions(asking=asking))
        if found.failure is not None:
            raise InputError(found.failure)
        return json.dumps(
            [(each.prediction.keyphrases, each.prediction.token_logprobs) for each in found.entries]
        ).encode()

    output(place / "store")
    return Target(place / "store", "answers.sqlite", output)


def _with_logprobs(handler: Handler) -> None:
    """Answer with words of the prompt, the same ones each time."""
    words = sorted(set(handler.prompt.split()), key=lambda word: (-len(word), word))[:4]
    text = "\n".join(words)
    tokens = [{"token": f"{word}\n" if word != words[-1] else word, "logprob": -len(word) / 8} for word in words]
    choice = {"message": {"content": text}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    body = {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 20}}
    handler.send(200, json.dumps(body).encode())


# ---------------------------------------------------------------------------------------------- models


def _phrases(model: str) -> bytes:
    found = karat.predict(SOME, model)
    return json.dumps([(each.keyphrases, each.scores, each.token_probs) for each in found]).encode()


@target("kea.json")
def _kea(place: Path, stack: ExitStack) -> Target:
    (place / "kea").mkdir()
    karat.train(SOME, "kea", output=place / "kea" / "kea.json")
    return Target(place / "kea", "kea.json", lambda folder: _phrases(f"kea,model={folder / 'kea.json'}"))


def _generator(file: str, model: str) -> Prepare:
    def prepare(place: Path, stack: ExitStack) -> Target:
        karat.train(Corpus.of(DOCUMENTS, name="demo"), model, output=place / "model", steps=150, batch=8, valid=SOME)
        assert any(each.keyphrases for each in karat.predict(SOME, str(place / "model")))
        return Target(place / "model", file, lambda folder: _phrases(str(folder)))

    return prepare


TARGETS["weights"] = _generator("weights.safetensors", TINY)
TARGETS["model.json"] = _generator("model.json", TINY)
TARGETS["words list"] = _generator("words.txt", TINY)
TARGETS["encoder shape"] = _generator("encoder.json", "tagger,model=random,size=16,layers=1,heads=2,inner=16")
TARGETS["tokenizer vocabulary"] = _generator("tokenizer.json", "tagger,model=random,size=16,layers=1,heads=2,inner=16")


@target("training state")
def _state(place: Path, stack: ExitStack) -> Target:
    def output(folder: Path) -> bytes:
        from karat.models.generators.checkpoint import read_tensors

        tensors, told = read_tensors(folder / "state.safetensors")
        return (
            repr(sorted((name, str(each.dtype), each.tolist()) for name, each in tensors.items())).encode()
            + repr(told).encode()
        )

    return replace(_generator("state.safetensors", TINY)(place, stack), output=output)


# ---------------------------------------------------------------------------------------------- caches


@target("vector cache")
def _cache(place: Path, stack: ExitStack) -> Target:
    values = {f"phrase {n}": random.Random(n).randbytes(64) for n in range(60)}
    Cache(place / "cache" / "v.sqlite").write("phrase", values)

    def output(folder: Path) -> bytes:
        """The vectors of all texts: those that the cache lacks are computed and kept, as an encoder does."""
        cache = Cache(folder / "v.sqlite")
        for _ in range(2):
            kept = cache.read("phrase", list(values))
            missing = {text: value for text, value in values.items() if text not in kept}
            cache.write("phrase", missing)
        return b"".join({**kept, **missing}[text] for text in values)

    return Target(place / "cache", "v.sqlite", output)


# ---------------------------------------------------------------------------------------------- command


@contextmanager
def _exit_code() -> Iterator[Counter[str]]:
    total = Counter[str]()
    yield total
    sys.exit(1 if total["changed"] else 0)


def main() -> None:
    """Flip bits and print a line for each kind of file; the exit code is 1 if an output was changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.flips", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(TARGETS))
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-checksums", action="store_true")
    options = parser.parse_args()
    with _exit_code() as total:
        print(f"{'file':22} {'flips':>5} {'same':>5} {'refused':>7} {'changed':>7}")
        for name in options.names or TARGETS:
            found = count_outcomes(name, options.flips, options.seed, checksums=not options.without_checksums)
            total += found
            print(
                f"{name:22} {options.flips:5} {found['same']:5} {found['refused']:7} {found['changed']:7}", flush=True
            )


if __name__ == "__main__":
    main()

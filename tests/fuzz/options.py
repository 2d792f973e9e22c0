"""Strings of options: good ones, damaged token by token, and the functions that parse them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import click

import karat
from karat.cli import karat as command
from karat.embed import embedder
from karat.formats import FORMATS
from karat.formats.fields import parse_fields
from karat.formats.hub import parse as parse_dataset
from karat.limits import parse_limits
from karat.metrics.base import METRICS, parse_request
from karat.models.find import own_models, parse_model
from karat.protocol import PRESETS, option_fields, parse_protocol, signature_facts
from karat.similarity.base import SIMILARITIES, compare
from tests.fuzz import seeds
from tests.fuzz.case import Case, Files
from tests.fuzz.readers import attempt, corpus, run

ODD = (
    "-1", "0", "1", "2", "1199999999999", "9223372036854775808", "1e400", "-1e400", "NaN", "inf", "٣", "²", "１",
    "0x10", "1_000",
    "+5", " 5", "5 ", "05", "1.5", ".5", "-0", "", " ", "\t", "\n", "x" * 5000, "9" * 5000, "\udcff", "\u202e",
    "\x1b[31m", "é",
    "=", ",", ":", "@", "/", "+", ";", "|", "{}", "%s", "'", '"', "None", "True", "*", "-", "--", "~", "#",
    "$HOME", "[", "(", "\\",
    "all", "present", "micro", "M", "V", "k",
)  # fmt: skip
METRIC_TEXTS = (
    "f1@5:present/micro", "f1@M", "p@O:absent", "r@10/mean", "map@5", "ndcg@10:present", "alpha_ndcg@5,alpha=0.3",
    "soft_f1@5,score=levenshtein,threshold=0.5", "soft_f1@M,score=kmr", "f1@V", "f1@G:M", "ece,bins=10",
    "count_mae", "f1@5:P,x=1",
)  # fmt: skip
SIMILARITY_TEXTS = (
    "levenshtein",
    "kmr",
    "bleu,reference=given",
    "rouge1",
    "meteor",
    "file:x.tsv",
    "embedded,model=hash",
)
MODEL_TEXTS = (
    "yake", "multipartiterank,alpha=1.1", "tfidf", "textrank,window=2,top=0.33", "kea,model=kea.json",
    "firstphrases", "llm:m",
    "tests.fuzz.options:nothing", "topicrank,threshold=0.74", "singlerank,window=10", "yake,n=3", "./x", "kpminer",
)  # fmt: skip
EMBEDDERS = ("hash", "vectors:x.txt", "package:numpy", "./x,layer=3", "x/y", "package:x,layer=9")
FIELD_TEXTS = (
    "id=doc,keyphrases=preds,separator=;", "corpus:id=id,text=title+text", "run:keyphrases=keyphrases,separator=,",
    "set.x=tags",
    "separator=\\t", "variants=|", "run:id=doc,separator=,,keyphrases=p", "text=a.b.c",
)  # fmt: skip
DATASETS = ("datasets:midas/inspec,config=raw,split=test", "datasets:x,revision=1", "datasets:./x")
LANGUAGES = ("english", "german", "de", "none", "french", "fr", "arabic", "zh")
LIMITS = ("line=128MB", "depth=3", "file=1GB", "digits=10", "pages=1", "cell=1kB", "pipe=1MB", "stream=10")
BOUNDS = ("f1@5:present=.3", "count_mae=2", "f1@M=0")


def nothing(documents: Sequence[Any]) -> list[list[str]]:
    """A model that predicts nothing."""
    return [[] for _ in documents]


def texts(kind: str) -> Sequence[str]:
    """Good strings of a kind."""
    more: dict[str, Sequence[str]] = {
        "metric": (*METRIC_TEXTS, *METRICS.load()),
        "protocol": (*PRESETS, *(f"karat,{name}={default}" for name, default in _protocol_options()), *signatures()),
        "similarity": (*SIMILARITY_TEXTS, *SIMILARITIES),
        "model": (*MODEL_TEXTS, *own_models()),
        "embedder": EMBEDDERS,
        "fields": FIELD_TEXTS,
        "dataset": DATASETS,
        "language": LANGUAGES,
        "format": sorted(FORMATS),
        "shard": ("1/2", "2/2", "1/1", "3/8"),
        "cutoff": ("5", "M", "O", "10", "1"),
        "jobs": ("1", "2", "auto"),
        "bound": BOUNDS,
        "limit": LIMITS,
    }
    return more[kind]


def _protocol_options() -> list[tuple[str, str]]:
    return [(name, str(field.default)) for name, (_, field) in option_fields().items()]


_SIGNATURES: list[str] = []


def signatures() -> list[str]:
    """Protocols as results spell them out."""
    if not _SIGNATURES:
        found = karat.score(corpus(), run(), metrics=["f1@5"], protocol=["karat", "chan2019", "meng2017"])
        _SIGNATURES.extend(found.signatures.values())
    return _SIGNATURES


_TOKEN = re.compile(r"\w+|\W", re.DOTALL)


def mutated(text: str, others: Sequence[str], draw: Random, odd: Sequence[str] = ODD) -> str:
    """The text with tokens replaced, left out, doubled, swapped, or joined with another text."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        parts = _TOKEN.findall(text) or [""]
        at, other = draw.randrange(len(parts)), draw.randrange(len(parts))
        kind = draw.randrange(8)
        if kind <= 2:
            parts[at] = draw.choice(odd)
        elif kind == 3:
            parts[at] = ""
        elif kind == 4:
            parts[at] *= draw.choice((2, 3, 50))
        elif kind == 5:
            parts[at], parts[other] = parts[other], parts[at]
        elif kind == 6:
            parts.insert(at, draw.choice(odd))
        else:
            more = _TOKEN.findall(draw.choice(others)) or [""]
            parts = parts[: at + 1] + more[draw.randrange(len(more)) :]
        text = "".join(parts)[:20_000]
    return text


def string(kind: str, draw: Random, share: float = 0.8) -> str:
    """A string of a kind: damaged in that share of the cases."""
    good = texts(kind)
    text = draw.choice(good)
    return mutated(text, good, draw) if draw.random() < share else text


# ---------------------------------------------------------------------------------------------- parsers


def _scored(**how: Any) -> object:
    return karat.render(karat.score(corpus(), run(), **({"metrics": ["f1@5"]} | how)), "table")


def _metric(text: str) -> None:
    parse_request(text)
    _scored(metrics=[text])


def _protocol(text: str) -> None:
    found = parse_protocol(text)
    assert str(parse_protocol(str(found))) == str(found)
    _scored(protocol=text)


def _model(text: str) -> None:
    if not parse_model(text).asks_endpoint:
        karat.predict(corpus(), text, n=2)


def _click(*arguments: str) -> None:
    """Runs the command in this process; raises what it raises unless that is a sentence for its user."""
    try:
        command.main(args=list(arguments), prog_name="karat", standalone_mode=False)
    except click.ClickException as error:
        raise karat.InputError(" ".join(error.format_message().split()) or "no sentence") from None
    except OSError as error:
        raise karat.InputError(str(error)) from None
    except (click.exceptions.Exit, click.exceptions.Abort):
        pass


PARSERS: dict[str, Callable[[str], object]] = {
    "metric": _metric,
    "protocol": _protocol,
    "signature": signature_facts,
    "similarity": lambda text: compare(text, "neural network", "network"),
    "soft": lambda text: _scored(metrics=[f"soft_f1@5,score={text}"]),
    "model": _model,
    "embedder": lambda text: embedder(text).embed(["index"]),
    "fields": parse_fields,
    "dataset": parse_dataset,
    "language": lambda text: attempt(lambda: _scored(language=text), lambda: karat.predict(corpus(), language=text)),
    "format": lambda text: karat.read("x", format=text),
    "shard": lambda text: _scored(shard=text),
    "cutoff": lambda text: karat.nearmiss(corpus(), run(), cutoff=text),
    "references": lambda text: _scored(references=text),
    "given": lambda text: karat.score(text, text),
    "click metric": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "-m", text),
    "click protocol": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "--protocol", text),
    "click fields": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "--fields", text),
    "click from": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "--from", text),
    "click shard": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "--shard", text),
    "click jobs": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "-j", text),
    "click similarity": lambda text: _click("nearmiss", "corpus.jsonl", "run.jsonl", "--score", text),
    "click model": lambda text: _click("predict", "-n", "2", "--dry-run", "--", text, "corpus.jsonl"),
    "limit": lambda text: parse_limits((text,)),
    "click limit": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "--limit", text),
    "click bound": lambda text: _click("results", "check", "a.karat", "--min", text),
    "click path": lambda text: _click("score", text, "run.jsonl"),
    "click output": lambda text: _click("score", "corpus.jsonl", "run.jsonl", "-o", text),
    "click shots": lambda text: _click("predict", "llm:m", "corpus.jsonl", "--dry-run", "--shots", text),
    "click list": lambda text: _click("list", "protocols", text),
}
_KINDS = {
    "signature": "protocol", "soft": "similarity", "references": "language", "given": "embedder",
    "click from": "format",
    "click path": "fields", "click output": "format", "click shots": "shard", "click list": "protocol",
}  # fmt: skip
_JOBS = (
    "0",
    "-1",
    "3",
    "1199999999999",
    "9223372036854775808",
    "1e400",
    "NaN",
    "",
    "٣",
    "auto ",
    "AUTO",
    "1.5",
    "9" * 5000,
)


def make(draw: Random) -> Case:
    """A case of a parser and a string; those that are given to the command have files to work on."""
    name = draw.choice(sorted(PARSERS))
    kind = _KINDS.get(name, name.removeprefix("click "))
    text = draw.choice(_JOBS) if kind == "jobs" else string(kind, draw)
    if name == "click output":
        text = text.replace("/", "|").replace("~", "")  # into the folder of the case alone
    files: Files = {}
    if name.startswith("click"):
        text = text.replace("\x00", "")
        results: Files = {"a.karat": seeds.of("results")[0]["a.karat"]}
        files = results if kind == "bound" else {"corpus.jsonl": seeds.CORPUS, "run.jsonl": seeds.RUN}
    return Case("parse", name, text=text, files=files)

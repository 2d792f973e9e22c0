"""Whole commands: every verb with good and damaged files, good and damaged flags, and unusual standard streams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random

import click

from karat.cli import karat as command
from karat.output.charts import KINDS
from tests.fuzz import options, seeds
from tests.fuzz.case import Case, Files
from tests.fuzz.damage import TEXTS, damaged

CHARTS = sorted(KINDS)
UNUSUAL = ("homogeneity", "training", "kpp", "reliability", "risk", "tokens")  # charts of other inputs than the rest
SEVERAL = " and "  # between paths
ENDPOINT = ("--base-url", "http://127.0.0.1:9/v1", "--tries", "1", "--delay", "0")

# What each verb is given: words, and in braces kinds of files; `|` parts alternatives.
GIVEN: dict[str, tuple[str, ...]] = {
    "annotate collect": (
        "study.json {annotations}",
        "study.json {annotations} --scores out.jsonl --resolved out.csv",
        "study.json {annotations} --adjudicate out.html --gap 1",
    ),
    "annotate sheets": (
        "{corpus} {run} {beta} --task set -o out",
        "{corpus} {run} --task pair -o out --annotators ana,ben --overlap 0.5",
        "{corpus} {run} {beta} --task phrase -o out --format label-studio",
        "{sample} --task reference -o out --sample 3",
    ),
    "audit": ("{corpus} {run}", "{corpus} {run} {beta}"),
    "compare": ("{corpus} {run} {beta} --resamples 50", "{results} --resamples 20", "{tabled} --resamples 20"),
    "concepts": (
        "{corpus} {run} {beta} --vocabulary {vocabulary}",
        "{corpus} {run} --vocabulary {vocabulary},language=en,unmapped=drop",
    ),
    "confidence": ("{demo} {byhand}", "{demo} {byhand}", "{corpus} {run}"),
    "consistency": (
        "{run} {beta}",
        "{run} --vocabulary {vocabulary}",
        "{run} --corpus {corpus} --model vectors:{vectors}",
    ),
    "corpus convert": ("{corpus} -o out.csv", "{sample} -o out.jsonl", "{sample} -o out --to folder --lossy"),
    "corpus df": ("{corpus} -o out.json", "{sample} -o out.tsv"),
    "demo": ("--folder demo",),
    "describe": ("{corpus} {run}", "{corpus}", "{corpus} --train {sample}"),
    "homogeneity": (
        "{corpus} {pairs} {run} --resamples 20",
        "{corpus} {pairs} {run} {beta} --resamples 20 --pairs-out out.csv",
    ),
    "human": (
        "{sets} --corpus {corpus} --run {run} --run {beta} --missing empty",
        "{judged} --corpus {corpus}",
        "{wide} -m overlap --learn out.json",
        "{wide} -m placed:{weights} --scale 0:4",
    ),
    "list": ("protocols", "metrics f1", "similarities", "formats", "limits", "models yake"),
    "nearmiss": ("{corpus} {run}", "{corpus} {run} --score file:{given}", "{corpus} {run} --all-pairs out.csv"),
    "overlap": ("{corpus} {run} {beta}", "{corpus} {run} {beta} --review out.csv"),
    "pairs describe": ("{corpus} {pairs}",),
    "pairs filter": ("{corpus} {reformulations} -o out.jsonl --pairs out2.jsonl",),
    "pairs gather": ("{homogeneity}",),
    "pairs mine": ("{corpus} -o out.jsonl --min 0.1", "{sample} -o out.csv"),
    "pairs reformulate": (
        "{corpus} --via synonyms -o out.jsonl",
        "{corpus} --via synonyms --repeat 2 --name twice -o out.jsonl",
        f"{{corpus}} --via paraphrase --model m -o out.jsonl --prompt {{prompt}} {' '.join(ENDPOINT)}",
        "{corpus} --via marian --forward {marian} --backward {marian} -o out.jsonl",
    ),
    "pairs repeats": ("{corpus} {run} {beta}",),
    "pairs tables": (
        "{corpus} {run} --reformulations {reformulations} --resamples 20",
        "{corpus} {run} --shared {sample} --min 0.1 --stem --identical keep --resamples 20",
    ),
    "plot": (
        *(f"{kind} {{corpus}} {{run}} {{beta}} -f json" for kind in CHARTS if kind not in UNUSUAL),
        *(f"{kind} {{demo}} {{byhand}} -f json" for kind in CHARTS if kind in UNUSUAL[2:]),
        "homogeneity {corpus} {run} --pairs {pairs} -o out.svg",
        "training {generator} -o out.svg",
        "scores {results} -o out.png",
    ),
    "predict": (
        "multipartiterank {documents} -f json",
        "yake {corpus} -o out.jsonl",
        "kea,model={kea} {corpus} -o out.csv",
        "tfidf {corpus} --df {frequencies}",
        "{generator} {corpus}",
        "llm:m {corpus} --answers {store} --prompt {prompt} --key-file {key} --shots {corpus}:1 " + " ".join(ENDPOINT),
        "firstphrases {documents} -o out.xlsx",
        "firstphrases {sample} -o out.bib",
        "firstphrases {sample} -o out.ris",
        "firstphrases {documents} -o out.jsonld",
        "firstphrases {corpus} --vocabulary {vocabulary},unmapped=drop -o out.jsonl",
    ),
    "report": (
        "{corpus} {run} {beta} -o out.html --resamples 20",
        "{corpus} {run} {beta} -o out.html --pairs {pairs} --human {sets} --resamples 20",
        "{results} -o out.html --resamples 20",
        "{corpus} -o out.html --models firstphrases,yake --resamples 20",
    ),
    "reproduce": ("{corpus} {run} --reported {figures} --budget 20 --resamples 20",),
    "retrieval": (
        "{corpus} {queries} {qrels} {run} --resamples 20",
        "{corpus} {queries} {qrels} {run} {beta} --trec {ranking} --rankings out --resamples 20",
    ),
    "results check": ("{results} --min f1@5:present=.1", "{results} --no-worse-than {results2} --resamples 20"),
    "results merge": (
        "{results}",
        "{tabled} -o out.karat",
        "{shards} -o out.karat",
        "{results} {results2} -o out.karat",
    ),
    "results tables": tuple(f"{kind} {{tabled}}" for kind in ("decoding", "cutoffs", "averages", "transfer")),
    "run convert": ("{run} -o out.csv", "{sample} -o out.jsonl", "{run} --corpus {corpus} -o out.bib"),
    "run ensemble": ("{run} {beta} -o out.jsonl",),
    "run rerank": ("{byhand} -o out.jsonl --by kpp", "{byhand} -o out.jsonl --by scores"),
    "run show": ("{corpus} {run} --id s001", "{corpus} {run} {beta} --id s000"),
    "score": (
        "{corpus} {run}",
        "{documents} {run} --missing empty",
        "{corpus} {run} {beta} -o out.karat",
        "{sample} {run}",
        "{corpus} {run} --extra-references {reviews}",
        "{corpus} {run} --vocabulary {vocabulary} -m hier_f@5 -m soft_f,score=concept",
    ),
    "table": ("{corpus} {run} {beta} --resamples 20", "{results} --resamples 20", "{tabled} --no-significance"),
    "train": ("kea {corpus} -o out.json", "copyrnn {corpus} -o out --steps 1"),
    "vocabulary map": (
        "{run} --vocabulary {vocabulary} -o out.jsonl",
        "{byhand} --vocabulary {vocabulary},similar=0.8 -o out.csv --phrases preferred",
    ),
    "vocabulary show": ("{vocabulary}", "{vocabulary},language=en"),
}
REPORTS = (
    *GIVEN["report"],
    "{corpus} {run} {beta} -o out.html --resamples 20 --reformulations {reformulations}",
    "{demo} {byhand} -o out.html --resamples 20",
)


@cache
def commands() -> Mapping[str, click.Command]:
    """Every verb of the command, by its words; one that is given nothing above is an error."""
    found = dict(_walk(command, ()))
    if found.keys() != GIVEN.keys():
        raise LookupError(f"tests/fuzz/verbs.py does not say what is given to {sorted(found.keys() ^ GIVEN.keys())}")
    return found


def _walk(group: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(group, click.Group):
        yield " ".join(words), group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        assert inner is not None
        yield from _walk(inner, (*words, name))


# ---------------------------------------------------------------------------------------------- making


def make(draw: Random) -> Case:
    """A case of any verb."""
    verb = draw.choice(sorted(commands()))
    if verb == "demo" and draw.random() < 0.9:  # it takes as long as all the others together
        verb = "score"
    return _case(verb, draw.choice(GIVEN[verb]), draw)


def make_report(draw: Random) -> Case:
    """A case of the report."""
    return _case("report", draw.choice(REPORTS), draw)


def _case(verb: str, given: str, draw: Random) -> Case:
    files: Files = {}
    arguments: list[str] = []
    for word in given.split():
        kind = word.partition("{")[2].partition("}")[0]
        path = _added(kind, files, draw) if kind else ""
        arguments += [word.replace(f"{{{kind}}}", each) for each in path.split(SEVERAL)] if kind else [word]
    if draw.random() < 0.45:
        files = _some_damaged(files, draw)
    arguments += _flags(verb, draw)
    if draw.random() < 0.06:
        at = draw.randrange(len(arguments) or 1)
        arguments[at : at + 1] = draw.choice(([], [draw.choice(options.ODD)], arguments[at : at + 1] * 2))
    arguments = [_inside(word) for word in arguments]
    outputs = tuple(word for word in arguments if word.startswith("out"))
    if draw.random() < 0.2:
        files |= {name: b"old\n" for name in outputs if "." in name}
    streams = draw.choice(("stdout closed", "stderr closed", "all closed", "stdin closed", "broken pipe", "full disk"))
    unusual = (
        streams if draw.random() < 0.04 and not any("\udc80" <= c <= "\udcff" for w in arguments for c in w) else ""
    )
    return Case("run", arguments=(*verb.split(), *arguments), streams=unusual, outputs=outputs, files=files)


def _inside(word: str) -> str:
    """An argument that a process can be given, and that names nothing outside of the folder of the case."""
    return word.replace("\x00", "").replace("~", "").removeprefix("/")


def _added(kind: str, files: Files, draw: Random) -> str:
    """The path of a good file of a kind, which is put among the files of the case."""
    fixed = {"corpus": ("corpus", seeds.CORPUS), "run": ("alpha", seeds.RUN), "beta": ("beta", seeds.OTHER)}
    if kind in fixed:
        stem, content = fixed[kind]
        files[name := _named(f"{stem}.jsonl", draw)] = content
        return name
    if kind in ("demo", "byhand"):
        name, source = ("demo.jsonl", "corpus.jsonl") if kind == "demo" else ("by-hand.jsonl", "by-hand.jsonl")
        files[name] = seeds.head(seeds.DEMO / source, 8)
        return name
    if kind == "sample":
        return _folder(files, *_sample(draw))
    if kind == "tabled":
        return _folder(files, seeds.of("results")[2], "a.karat")
    if kind == "shards":
        return _folder(files, seeds.of("results")[4], f"a.karat{SEVERAL}b.karat")
    if kind == "results2":
        return _folder(files, {"b.karat": draw.choice(seeds.of("results"))["a.karat"]}, "b.karat")
    if kind == "marian":
        return _folder(files, {f"marian/{name}": content for name, content in seeds.of("encoder")[2].items()}, "marian")
    good = draw.choice(seeds.of(kind))
    if kind in ("generator", "documents") and len(good) > 1:
        return _folder(files, {f"{kind}/{name}": content for name, content in good.items()}, kind)
    return _folder(files, good, next(iter(good)))


def _named(name: str, draw: Random) -> str:
    """The name of a file, which is that of a system; a strange one now and then."""
    if draw.random() < 0.9:
        return name
    odd = draw.choice([text for text in TEXTS if 0 < len(text) < 200 and "\x00" not in text and "/" not in text])
    return f"{odd.strip() or 'x'}.{name}".lstrip("-.~")


def _folder(files: Files, more: Mapping[str, bytes | None], path: str) -> str:
    files |= more
    return path


def _sample(draw: Random) -> tuple[Files, str]:
    from tests.formats.samples import SAMPLES

    sample = draw.choice(SAMPLES)
    return {f"sample/{name}": content for name, content in sample.files.items()}, sample.path.replace("{}", "sample")


def _some_damaged(files: Files, draw: Random) -> Files:
    """The files with damage to one or two of them."""
    for name in draw.sample(sorted(files), min(len(files), draw.choice((1, 1, 2)))):
        content = files[name]
        made = damaged({Path(name).name: content}, draw)
        files = {key: value for key, value in files.items() if key != name}
        files |= {str(Path(name).parent / key): value for key, value in made.items()}
    return files


# ---------------------------------------------------------------------------------------------- flags

_KINDS = {
    "METRIC": "metric", "NAME[,option=value...]": "protocol", "PROTOCOL": "protocol", "LANGUAGE": "language",
    "FORMAT": "format", "NAME=COLUMN,...": "fields", "K": "cutoff", "I/N": "shard", "METRIC=VALUE": "bound",
    "NAME=SIZE": "limit", "FORMAT|DIR": "format", "MODEL|RUN": "model",
}  # fmt: skip
_HARMLESS = {  # where a good but large number means long work, or a request that waits
    "--resamples": ("10", "50", "1"), "--timeout": ("1", "0.5"), "--tries": ("1", "2"), "--delay": ("0", "0.01"),
    "--minutes": ("0.01",), "--steps": ("1",), "--epochs": ("0.1",),
}  # fmt: skip
_WRONG = ("-1", "0", "", "x", "NaN", "1e400", "inf", "9223372036854775808", "1199999999999", "٣", "9" * 5000)
_LEFT_OUT = ("--base-url", "--help", "-o", "--folder", "--device")
_RARE = ("--from", "--fields", "--references", "--language", "--by", "--prompt", "--answers", "--shots", "--runs")
_FIGURES = ("0", "1", "2", "3", "5", "0.5", "0.05", "0.95", "10")


def _flags(verb: str, draw: Random) -> list[str]:
    """Some flags of a verb with values, good or not."""
    found = commands()[verb]
    known = [
        each
        for each in found.get_params(click.Context(found, help_option_names=["-h", "--help"]))
        if isinstance(each, click.Option) and each.opts[0] not in _LEFT_OUT
    ]
    if draw.random() < 0.8:
        known = [
            each for each in known if each.opts[0] not in _RARE and not each.opts[0].startswith(("--dev", "--fit"))
        ]
    flags: list[str] = []
    for each in draw.sample(known, min(len(known), draw.choice((0, 0, 0, 1, 1, 2, 3)))):
        name = draw.choice(each.opts)
        flags += [name] if each.is_flag else [name, _value(each, draw)]
    return flags


def _value(option: click.Option, draw: Random) -> str:
    name, good = max(option.opts, key=len), draw.random() < 0.75
    if name == "--jobs":
        return draw.choice(("1", "2", "auto")) if good else draw.choice(options._JOBS)
    if name == "--concurrency":
        return draw.choice(("1", "4", "0", "x", "1199999999999"))
    if isinstance(option.type, click.Choice):
        return draw.choice(list(option.type.choices)) if good else draw.choice(options.ODD)
    if name in _HARMLESS:
        return draw.choice(_HARMLESS[name] if good else _WRONG[:6])
    if name == "--score":
        return options.string("similarity", draw, 0.0 if good else 1.0)
    if option.metavar in _KINDS:
        return options.string(_KINDS[option.metavar], draw, 0.0 if good else 1.0)
    if option.metavar and len(option.metavar) == 1:
        return draw.choice(_FIGURES if good else _WRONG)
    return draw.choice(("corpus.jsonl", "run.jsonl", "out3.jsonl", "alpha", "x") if good else options.ODD)

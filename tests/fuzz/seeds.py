"""Good files of every kind that karat reads, small, made once in a process."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

import karat
import karat.models.all  # before any model by itself: models are listed in the order of their registration
from karat.embed.cache import Cache
from karat.llm.client import Answer, Usage
from karat.llm.store import _ANSWERS as ANSWERS
from karat.llm.store import Question, Store
from karat.llm.store import _answer_checksum as answer_checksum
from karat.models.train import train
from karat.results import files as saved
from karat.similarity.placed import Weights
from tests.folders import docx_of, html_of
from tests.formats.samples import gzipped, json_lines, json_list, parquet_table, zstandardised
from tests.fuzz.case import Files
from tests.models.papers import pdf_of

GOLDEN = Path(__file__).parents[1] / "golden"
DEMO = Path(karat.__file__).parent / "demo"

METRICS = (
    "f1@5:present", "f1@M", "p@3/micro", "map@10", "ndcg@5:absent", "f1@O", "count_mae", "duplication", "ece",
    "self_bleu",
    "soft_f1@5,score=levenshtein", "f1@V",
)  # fmt: skip


def head(path: Path, lines: int) -> bytes:
    """The first lines of a file."""
    with path.open("rb") as file:
        return b"".join(islice(file, lines))


CORPUS, RUN, OTHER = (head(GOLDEN / f"synthetic.{name}.jsonl", 8) for name in ("corpus", "alpha", "beta"))
TEXT = "Deep neural networks learn. We train a neural network on graphs, and index libraries by honey bees."
WORD_VECTORS = "3 2\nneural 0.5 1\nnetwork 1 -2.5e-1\nindex 0 1\n"
FIGURES: list[dict[str, object]] = [
    {"metric": "f1@M", "subset": "present", "value": 0.340, "system": "alpha"},
    {"metric": "f1@5", "subset": "all", "value": 0.412, "digits": 3, "system": "alpha", "corpus": "corpus"},
]
SCORES: list[dict[str, object]] = [
    {"prediction": "neural network", "reference": "index", "score": 0.25},
    {"prediction": "index", "reference": "adaptive cluster", "score": 1},
]
PAIRS: list[dict[str, object]] = [{"a": f"s{n:03}", "b": f"s{n + 1:03}", "jaccard": 0.25} for n in range(7)]
QUERIES: list[dict[str, object]] = [{"id": f"q{n}", "text": f"fuzzy index {n} of graphs"} for n in range(4)]
QRELS = "".join(f"q{n} 0 s{n + m:03} {m}\n" for n in range(4) for m in range(3)).encode()
RANKING = "".join(f"q{n} Q0 s{m:03} {m + 1} {9 - m}.5 x\n" for n in range(4) for m in range(3)).encode()
SETS: list[dict[str, object]] = [
    {"id": f"s{n:03}", "system": system, "annotator": who, "score": (n * 7 + len(who) + len(system)) % 5 / 4}
    for n in range(8)
    for system in ("alpha", "beta")
    for who in ("ana", "benno")
]
REVIEWS: list[dict[str, object]] = [
    {"id": "s000", "phrase": "index", "systems": ["alpha", "beta"], "accept": True},
    {"id": "s001", "phrase": "fuzzy library", "systems": ["alpha"], "accept": None},
]
REFORMULATED: list[dict[str, object]] = [
    {"id": "s000~p", "source": "s000", "method": "paraphrase", "title": "index", "text": "We verify matrices ."},
    {"id": "s001~p", "source": "s001", "method": "paraphrase", "title": None, "text": "We schedule graphs ."},
]
CARD = {
    "format": "karat generator 1",
    "model": "copyrnn",
    "karat": "0.1.0",
    "language": "english",
    "options": {"embedding": 16, "hidden": 12},
    "settings": {"steps": 4, "batch": 2},
    "corpus": {"name": "synthetic", "hash": "0123", "documents": 8},
    "steps": 4,
    "step": 4,
    "documents": 8,
    "parameters": 1000,
    "loss": 2.5,
}
LOG = [
    {"step": 2, "documents": 4, "loss": 3.5, "valid": 3.25},
    {"step": 4, "documents": 8, "loss": 2.5, "valid": 2.75},
]
WORDS = "7\n<pad>\n<unk>\n<start>\n<end>\n<sep>\n<text>\n<digit>\nneural\nnetwork\n"
STATE = {"step": 4, "documents": 8, "log": LOG, "random": [1, 2, 3]}
QUESTION = Question(b"k" * 16, "s000", "paraphrase", "m", 0.0, 0, "Say {text}")
ENCODER = {"model_type": "bert", "num_hidden_layers": 3, "hidden_size": 16, "architectures": ["BertModel"]}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def of(kind: str) -> tuple[Files, ...]:
    """The good files of a kind, in each of their forms; the first file is the one that is read."""
    return _MADE[kind]()


def records(name: str, rows: Sequence[Mapping[str, object]]) -> tuple[Files, ...]:
    """Rows in every container that records are read from."""
    flat = [{key: str(value) for key, value in row.items()} for row in rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = "".join(",".join(row.get(key, "").replace(",", " ") for key in columns) + "\n" for row in flat)
    table = (",".join(columns) + "\n" + cells).encode()
    return (
        {f"{name}.jsonl": json_lines(rows)},
        {f"{name}.json": json_list(rows)},
        {f"{name}.csv": table},
        {f"{name}.tsv": table.replace(b",", b"\t")},
        {f"{name}.parquet": parquet_table(flat)},
        {f"{name}.jsonl.gz": gzipped(json_lines(rows))},
        {f"{name}.csv.zst": zstandardised(table)},
    )


def _golden(name: str, lines: int = 8) -> list[dict[str, object]]:
    return [json.loads(line) for line in head(GOLDEN / name, lines).splitlines()]


@cache
def results() -> tuple[Files, ...]:
    """Results of all kinds of metrics, of a shard, and of one system."""
    documents = karat.Corpus.of([json.loads(line) for line in CORPUS.splitlines()], "corpus")
    alpha, beta = (
        karat.Run.of([json.loads(line) for line in text.splitlines()], name)
        for text, name in ((RUN, "alpha"), (OTHER, "beta"))
    )
    known = [metric for metric in METRICS if _works(metric, documents, alpha)]
    development = (documents, [alpha, beta])
    whole = karat.score(documents, alpha, beta, metrics=known, protocol=["karat", "chan2019"], development=development)
    parts = [karat.score(documents, alpha, metrics=["f1@5"], shard=f"{i}/2") for i in (1, 2)]
    first, second = map(saved.encode, parts)
    one = saved.encode(karat.score(documents, alpha, metrics=["f1@5:present"]))
    named = [karat.Run.of(list(alpha), "t5@greedy"), karat.Run.of(list(beta), "t5@beam")]
    laid = ["f1@5:present", "f1@M:present", "f1@O:present", "r@M", "f1@M"]
    tabled = saved.encode(karat.score(documents, *named, metrics=laid, averages=True))
    shards: Files = {"a.karat": first, "b.karat": second}
    both = saved.encode(whole)
    return (
        {"a.karat": both},
        {"a.karat": both, "b.karat": one},
        {"a.karat": tabled},
        {"a.karat": one, "b.karat": one},
        shards,
    )


def _works(metric: str, corpus: karat.Corpus, run: karat.Run) -> bool:
    try:
        karat.score(corpus, run, metrics=[metric], development=(corpus, [run]))
    except karat.InputError:
        return False
    return True


@cache
def kea() -> tuple[Files, ...]:
    """A trained model of Kea."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kea.json")
        documents = karat.Corpus.of([json.loads(line) for line in CORPUS.splitlines()], "corpus")
        train(documents, "kea", output=path)
        content = path.read_bytes()
    return {"kea.json": content}, {"kea.json.gz": gzipped(content)}


@cache
def store() -> tuple[Files, ...]:
    """Answers of a language model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.sqlite")
        with Store(path) as opened:
            request = opened.begin(QUESTION.key, Usage(3, 4, True))
            opened.keep(QUESTION, Answer("A text.", request=request, usage=Usage(3, 4, False), tokens=(("A", -0.5),)))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE answers SET answered = '2026-01-01T00:00:00+00:00'")
            row = connection.execute(ANSWERS).fetchone()
            connection.execute("UPDATE answers SET checksum = ?", (answer_checksum(row),))
            connection.commit()
        with Store(path) as opened:
            assert opened.answer(QUESTION.key) == "A text."
        content = _one_file(path)
    return ({"answers.sqlite": content},)


@cache
def vectors_cache() -> tuple[Files, ...]:
    """Vectors that an encoder has computed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cache.sqlite")
        Cache(path).write("mean", {"neural network": b"\x00\x00\x80\x3f" * 16, "index": b"\x00" * 64})
        content = _one_file(path)
    return ({"cache.sqlite": content},)


def _one_file(path: Path) -> bytes:
    """An SQLite file without a journal beside it, in small pages."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA page_size = 512")
        connection.execute("VACUUM")
    return path.read_bytes()


def generator() -> tuple[Files, ...]:
    """The directory of a trained generator."""
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    weights = len(header).to_bytes(8, "little") + header + bytes(8)
    files: Files = {
        "model.json": msgspec.json.encode(CARD),
        "words.txt": WORDS.encode(),
        "log.jsonl": json_lines(LOG),
        "state.json": msgspec.json.encode(STATE),
        "weights.safetensors": weights,
        "state.safetensors": weights,
    }
    return (files,)


def encoder() -> tuple[Files, ...]:
    """The directories of an encoder and of a sentence encoder, as far as they are read without torch."""
    plain: Files = {
        "config.json": msgspec.json.encode(ENCODER),
        "model.safetensors": b"\x02\x00\x00\x00\x00\x00\x00\x00{}",
    }
    pooling = msgspec.json.encode({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    more: Files = {
        "modules.json": msgspec.json.encode(MODULES),
        "1_Pooling/config.json": pooling,
        "sentence_bert_config.json": b'{"max_seq_length": 32, "do_lower_case": true}',
        "config_sentence_transformers.json": b'{"prompts": {"query": "q: "}, "default_prompt_name": "query"}',
    }
    marian: Files = {
        "config.json": b'{"model_type": "marian"}',
        "model.safetensors": b"\x02\x00\x00\x00\x00\x00\x00\x00{}",
        "source.spm": b"x",
        "target.spm": b"x",
        "vocab.json": b"{}",
    }
    return plain, plain | more, marian


def wordnet() -> tuple[Files, ...]:
    """Dictionary files of WordNet."""
    index = b"  1 A licence.\ncat n 2 1 @ 2 1 02121620 10153414  \ndog n 1 1 @ 1 1 02084071  \n"
    files: Files = {}
    for name in ("noun", "verb", "adj", "adv"):
        files |= {f"index.{name}": index, f"{name}.exc": b"mice mouse\ngeese goose\n", f"data.{name}": b"  1\n"}
    return (files,)


def frequencies() -> tuple[Files, ...]:
    """Document frequencies, as JSON, as a table of pke, and beside other things."""
    counts = {"--NB_DOC--": 8, "neural net": 2, "index": 5}
    table = "".join(f"{phrase}\t{count}\n" for phrase, count in counts.items()).encode()
    content = msgspec.json.encode(counts)
    within = msgspec.json.encode({"df": {"index": 5}, "documents": 8})
    return {"df.json": content}, {"df.tsv": table}, {"df.json.gz": gzipped(content)}, {"df.json": within}, {"df": table}


def part(folder: Path, output: str, model: str) -> Files:
    """An unfinished prediction: what a killed process leaves."""
    from karat.models.find import parse_model
    from karat.models.run import PredictOptions, predicted

    target = folder / output
    predicted(str(folder / "corpus.jsonl"), parse_model(model), PredictOptions(), output=str(target))
    return {output: target.read_bytes()}


@cache
def pdfs() -> tuple[Files, ...]:
    """PDFs of one and of several pages."""
    pages = [[f"Journal {n}", "Neural networks learn.", "They index libraries.", str(n)] for n in (1, 2, 3)]
    one, three = pdf_of([["On Bees", "A swarm of bees."]]), pdf_of(pages, "A title of words")
    stream = zlib.compress(b"BT /F1 12 Tf 72 720 Td (Neural networks learn.) Tj ET")
    start, end = one.find(b"<< /Length"), one.find(b"endstream")
    flate = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\n" % (len(stream), stream)
    return {"a.pdf": one}, {"a.pdf": three}, {"a.pdf": one[:start] + flate + one[end:]}


def documents() -> tuple[Files, ...]:
    """What keyphrases are predicted for."""
    text = TEXT.encode()
    return (
        *pdfs(),
        {"a.txt": text},
        {"a.md.gz": gzipped(text)},
        {
            "a.txt": text,
            "b.pdf": pdfs()[0]["a.pdf"],
            "c.jsonl": CORPUS,
            "d.csv": b"id,text\n1,Neural networks learn.\n",
        },
        {"corpus.jsonl": CORPUS},
        {"a.docx": docx_of("Libraries", [TEXT])},
        {"a.html": html_of("Libraries", [TEXT])},
        {
            "a.docx": docx_of("Libraries", [TEXT]),
            "a.key": b"libraries\n",
            "b.html": html_of("Libraries", [TEXT]),
            "b.tsv": b"<http://x.org/1>\tlibraries\n",
            "c.pdf": pdfs()[0]["a.pdf"],
            "sub/d.md": b"# Libraries\n" + text,
        },
    )


@cache
def homogeneity() -> tuple[Files, ...]:
    """A result of `karat homogeneity`, as it is written in JSON."""
    documents: list[dict[str, Any]] = [
        {"id": f"d{n}", "text": "Neural networks learn.", "keyphrases": ["nets"]} for n in range(3)
    ]
    run: list[dict[str, Any]] = [{"id": f"d{n}", "keyphrases": ["nets", f"learning {n}"]} for n in range(3)]
    pairs = [{"a": "d0", "b": "d1"}, {"a": "d1", "b": "d2"}]
    found = karat.homogeneity(documents, pairs, run, resamples=9)
    return ({"homogeneity.json": karat.render(found, "json").encode()},)


def key_of(texts: tuple[str, ...]) -> str:
    """A name for some texts."""
    return blake2b("\0".join(texts).encode(), digest_size=4).hexdigest()


TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:index a skos:Concept ; skos:prefLabel "index"@en, "Index"@de ; skos:altLabel "indexing"@en ; skos:narrower :model .
:model a skos:Concept ; skos:prefLabel "wavelet models"@en ; skos:hiddenLabel "model"@en ; skos:notation "1.2" .
:robot a skos:Concept ; skos:prefLabel "robots"@en ; skos:broader :model, :robot ; skos:altLabel "index"@en .
"""


RDF = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:skos="http://www.w3.org/2004/02/skos/core#">
  <skos:Concept rdf:about="http://example.org/index">
    <skos:prefLabel xml:lang="en">index</skos:prefLabel><skos:altLabel xml:lang="en">indexing</skos:altLabel>
    <skos:narrower rdf:resource="http://example.org/model"/>
  </skos:Concept>
  <skos:Concept rdf:about="http://example.org/model"><skos:prefLabel>wavelet models</skos:prefLabel></skos:Concept>
</rdf:RDF>
"""
LINKED = """{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#", "e": "http://example.org/"}, "@graph": [
 {"@id": "e:index", "@type": "skos:Concept", "skos:prefLabel": {"@value": "index", "@language": "en"}},
 {"@id": "e:model", "@type": "skos:Concept", "skos:prefLabel": ["wavelet models"], "skos:broader": {"@id": "e:index"}}]}
"""
TRIPLES = """<http://example.org/a> <http://www.w3.org/2004/02/skos/core#prefLabel> "index"@en .
<http://example.org/b> <http://www.w3.org/2004/02/skos/core#prefLabel> "wavelet models" .
<http://example.org/b> <http://www.w3.org/2004/02/skos/core#broader> <http://example.org/a> .
"""


def vocabulary() -> tuple[Files, ...]:
    """A list of terms, and a thesaurus in every syntax."""
    return (
        {"vocabulary.txt": head(GOLDEN / "vocabulary.txt", 8)},
        {"vocabulary.ttl": TURTLE.encode()},
        {"vocabulary.ttl.gz": gzipped(TURTLE.encode())},
        {"vocabulary.nt": TRIPLES.encode()},
        {"vocabulary.rdf": RDF.encode()},
        {"vocabulary.jsonld": LINKED.encode()},
    )


@cache
def annotated() -> tuple[Files, ...]:
    """A file of a sheet and an export of Label Studio, each beside its study."""
    found: list[Files] = []
    documents = karat.Corpus.of(map(json.loads, CORPUS.splitlines()), name="corpus")
    systems = [karat.Run.of(map(json.loads, lines.splitlines()), name=f"r{n}") for n, lines in enumerate((RUN, OTHER))]
    for task in ("set", "reference"):
        scale: Any = {"scale": "0-4"} if task == "set" else {}
        study = karat.annotation_sheets(documents, *systems, task=task, annotators="ana,ben", sample=6, **scale).study
        answer = {"chosen": [0], "added": ["honey bees"], "done": True} if task == "reference" else 3
        record = {"answer": answer, "comment": "why", "seconds": 2.5, "at": 1763391599000}
        head = {"karat": "annotations", "version": 1, "study": study.id, "task": task, "annotator": "ana"}
        head["token"] = study.token("ana")
        own = {str(item.id): record for item in study.items}
        sheet = json.dumps(head | {"saved": 1763391600000, "answers": own}).encode()
        given = {"choices": ["0"]} if task == "reference" else {"choices": ["3"]}
        export = [
            {
                "data": {"study": study.id, "item": item.id},
                "annotations": [
                    {
                        "completed_by": {"id": 1, "email": "ana"},
                        "updated_at": "2026-11-17T15:00:00.5Z",
                        "lead_time": 4.5,
                        "result": [{"from_name": "answer", "to_name": "text", "type": "choices", "value": given}],
                    }
                ],
            }
            for item in study.items
        ]
        whole = msgspec.json.encode(study)
        exported = json.dumps(export).encode()
        found += [{"ana.json": sheet, "study.json": whole}, {"export.json": exported, "study.json": whole}]
    return tuple(found)


def queries() -> tuple[Files, ...]:
    """Queries in every container, and as a table whose columns have no names."""
    return (*records("queries", QUERIES), {"queries.tsv": b"q0\tfuzzy index\nq1\tgraphs of x\n"})


_MADE: dict[str, Callable[[], tuple[Files, ...]]] = {
    "results": results,
    "kea": kea,
    "store": store,
    "cache": vectors_cache,
    "generator": generator,
    "encoder": encoder,
    "wordnet": wordnet,
    "frequencies": frequencies,
    "documents": documents,
    "figures": cache(lambda: records("figures", FIGURES)),
    "given": cache(
        lambda: (*records("given", SCORES)[:1], *records("given", SCORES)[3:4], *records("given", SCORES)[5:6])
    ),
    "annotations": annotated,
    "reviews": cache(lambda: records("review", REVIEWS)),
    "sets": cache(lambda: records("human", SETS)),
    "judged": cache(lambda: records("human", _golden("human.pairs.jsonl"))),
    "wide": lambda: (
        {"wide.csv": head(GOLDEN / "human.wide.csv", 40)},
        {"wide.tsv": head(GOLDEN / "human.wide.csv", 40).replace(b",", b"\t")},
    ),
    "weights": lambda: ({"weights.json": json.dumps(Weights((1.0, 0.5), first=2.0).as_dict()).encode()},),
    "pairs": cache(lambda: records("pairs", PAIRS)),
    "homogeneity": homogeneity,
    "queries": cache(queries),
    "qrels": lambda: (
        {"a.qrels": QRELS},
        {"a.tsv": b"query-id\tcorpus-id\tscore\n" + QRELS.replace(b" 0 ", b"\t").replace(b" ", b"\t")},
        {"a.qrels.gz": gzipped(QRELS)},
    ),
    "ranking": lambda: ({"a.trec": RANKING}, {"a.trec.gz": gzipped(RANKING)}),
    "reformulations": cache(lambda: records("made", REFORMULATED)[:1] + records("made", REFORMULATED)[5:6]),
    "vocabulary": cache(vocabulary),
    "vectors": lambda: (
        {"vectors.txt": WORD_VECTORS.encode()},
        {"vectors.txt": WORD_VECTORS.partition("\n")[2].encode()},
        {"vectors.txt.gz": gzipped(WORD_VECTORS.encode())},
    ),
    "prompt": lambda: ({"prompt.txt": b"Say {text} from {from} to {to}: {examples} {n}\n"},),
    "key": lambda: ({"key.txt": b"abc-123\n"},),
}
KINDS = tuple(_MADE)

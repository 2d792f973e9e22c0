"""One small well-formed sample of every format, in the layout in which its files are found."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow
import xlsxwriter
import zstandard
from pyarrow import parquet

from karat.formats.head import Role
from tests.folders import docx_of, html_of
from tests.models.papers import pdf_of

Records = list[dict[str, Any]]
BOTH: tuple[Role, ...] = ("corpus", "run")


@dataclass(frozen=True, slots=True)
class Sample:
    """Some files, and the path by which they are read; each file is named by its place in a folder."""

    name: str
    format: str
    files: Mapping[str, bytes]
    given: str = ""  # the path if it is neither the only file nor the folder of several; `{}` is that folder
    roles: tuple[Role, ...] = BOTH
    sniffed: str = ""  # what it is taken for without its name, if not for its format

    @property
    def path(self) -> str:
        """The path that is read, with `{}` for the folder in which the files lie."""
        return self.given or (f"{{}}/{next(iter(self.files))}" if len(self.files) == 1 else "{}")


# ---------------------------------------------------------------------------------------------- containers


def json_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def json_list(records: Iterable[Mapping[str, Any]]) -> bytes:
    return json.dumps(list(records), ensure_ascii=False, indent=1).encode()


def parquet_table(records: Iterable[Mapping[str, Any]]) -> bytes:
    made = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(list(records)), made)
    return made.getvalue()


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def zstandardised(content: bytes) -> bytes:
    return bytes(zstandard.ZstdCompressor(write_checksum=True).compress(content))


# How a file is packed, by the end of its name, and unpacked.
PACKINGS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzipped, gzip.decompress),
    ".zst": (zstandardised, lambda content: bytes(zstandard.ZstdDecompressor().decompress(content))),
}


# ---------------------------------------------------------------------------------------------- records

DOCUMENTS: Records = [
    {
        "id": "d1",
        "title": "Swarms of bees",
        "text": "A swarm of honey bees leaves the hive — naïve, but brave.",
        "keyphrases": ["honey bees", ["swarm", "bee swarm"], "zoology"],
        "reference_sets": {"author": ["honey bees"], "reader": [["swarm", "swarms"], "zoology"]},
    },
    {"id": 2, "title": "", "text": "Deep nets learn; 3 of 4 do.", "keyphrases": ["deep nets", "training"]},
    {"id": "d3", "title": "Graphs", "text": "Ranking on graphs.", "keyphrases": []},
]
PREDICTIONS: Records = [
    {
        "id": "d1",
        "keyphrases": ["honey bee", "hive", "zoology"],
        "scores": [0.9, 0.5, -2],
        "token_probs": [[0.9, 0.8], [0.3], None],
        "kinds": ["present", "present", "absent"],
    },
    {"id": 2, "keyphrases": ["deep nets"], "scores": [1e-3], "token_logprobs": [[-0.1, -2.5]]},
    {"id": "d3", "keyphrases": []},
]
DOCUMENT_TABLE = """\
id,title,text,keyphrases,reference_sets
d1,Swarms of bees,"A swarm of ""honey"" bees, they say.",honey bees;swarm;zoology,"{""author"": [""honey bees""]}"
2,,"Deep nets
learn.","[""deep nets"", [""training"", ""learning""]]",
d3,Graphs,Ranking on graphs.,,
"""
RUN_TABLE = """\
id\tkeyphrases\tscores\ttoken_probs\tkinds
d1\thoney bee;hive\t0.9;0.5\t[[0.9, 0.8], [0.3]]\tpresent;present
2\t['deep nets']\t[1]\t\t
d3\t\t\t\t
"""
PAPERS: Records = [
    {"title": "Deep nets.", "abstract": "We train\ndeep nets.", "keyword": "deep nets;training of nets"},
    {"title": "Bees", "abstract": "A naïve swarm.", "keyword": "swarm;bees, wasps;"},
]
NEWS: Records = [
    {
        "id": "ny0000007",
        "categories": ["us", "politics"],
        "date": "2016/07/21",
        "title": "A Speech ",
        "abstract": "CLEVELAND — A convention.",
        "keyword": "Elections;Republican National Convention,RNC;Speeches",
    },
    {
        "title": "Records",
        "abstract": "A festival.",
        "keyword": [["Records"], ["Guinness World Records", "GWR"]],
        "date": "2013/03/17",
        "categories": ["asia-pacific"],
        "url": "a.page/2013/03/17/records.html",
        "id": "jp0000001",
    },
]
QUESTIONS: Records = [
    {"id": "4399", "title": "How to sort?", "question": "I have a list.", "tags": "python;sorting;c++"},
    {"id": "4400", "title": "Why?", "question": "", "tags": "philosophy"},
]
OPENNMT_PAPERS: Records = [
    {
        "id": "kp20k_test_0",
        "title": "deep nets",
        "abstract": "We train deep nets; they learn.",
        "keywords": ["deep nets", "training; of nets", ""],
        "dataset_type": "scipaper",
    },
    {"title": "bees", "abstract": "A swarm.", "keywords": "swarm;insects;"},
]
OPENNMT_PREDICTED: Records = [
    {
        "index": 0,
        "src": [25, 11183, 27],
        "src_raw": ["deep", "nets", "."],
        "gold_sent": [["training"], ["deep", "nets"]],
        "attns": [[[0.5, 0.5]], [[1.0, 0.0]]],
        "copied_flags": [[False, False], [True]],
        "pred_sents": [["deep", "nets"], ["training"], []],
        "pred_scores": [-0.25, -1.5, -20.0],
        "preds": [[4, 5], [60001], []],
        "topseq_pred_sents": [["deep", "nets"], ["training"]],
        "topseq_pred_scores": [-0.25, -0.25],
        "dup_pred_tuples": None,
    },
    {"index": 1, "pred_sents": [], "pred_scores": [], "topseq_pred_sents": [], "topseq_pred_scores": []},
]
VDOM = '[{"Id":0,"text":"April 30","feature":[48.0,115.0],"start_idx":0,"end_idx":2}]'
PAGES: Records = [
    {
        "url": "a.page/doctors.html",
        "text": "April 30 Online Doctor Appointment System",
        "VDOM": VDOM,
        "KeyPhrases": [["Doctor", "Appointment"], ["Web"], []],
    },
    {"url": "a.page/generator", "text": "Key Generator", "VDOM": VDOM, "KeyPhrases": [["Key", "Generator"]]},
]
PAGES_PREDICTED: Records = [
    {"url": "a.page/doctors.html", "KeyPhrases": [["doctor"], ["web", "application"]], "Scores": [2.5, -0.25]},
    {"url": "a.page/generator", "KeyPhrases": [["key", "generator"], [""]]},
]
LINKED: Records = [
    {
        "source": "deep nets in [digit] days [sep] we train deep nets . [digit] of them learn .",
        "target": "deep nets ; training ; neural architecture",
        "predictions": "deep nets;key ##phrase ##s ; [ digit ] days;[unk]",
    },
    {"source": "a page without a title .", "target": "", "predictions": ""},
]
MIDAS: Records = [
    {
        "paper_id": 1001,
        "document": ["Trees", "and", "Forests", "-LRB-", "RF", "-RRB-", "beat", "trees", "."],
        "doc_bio_tags": ["B", "O", "B", "O", "B", "O", "O", "B", "O"],
        "extractive_keyphrases": ["trees", "forests", "rf"],
        "abstractive_keyphrases": ["ensemble learning"],
        "other_metadata": {"text": [], "bio_tags": []},
    },
    {"id": "1002", "document": ["Bees", "swarm"], "doc_bio_tags": ["B", "I"]},
]
LDKP: Records = [
    {
        "id": "17aa",
        "sections": ["introduction", "title", "abstract"],
        "sec_text": [["We", "grow", "trees", "."], ["On", "Trees"], ["Random", "forests", "win", "."]],
        "sec_bio_tags": [["O", "O", "B", "O"], ["O", "B"], ["B", "I", "O", "O"]],
        "extractive_keyphrases": ["trees", "random forests"],
        "abstractive_keyphrases": ["ensembles"],
    },
    {"paper_id": 18, "sections": ["title"], "sec_text": [["Bees"]], "sec_bio_tags": [["B"]]},
]
PRMU: Records = [
    {
        "id": "2Zk7",
        "title": "On Trees",
        "abstract": "Random forests win.",
        "keyphrases": ["random forests", "win forests", "decision forests", "ensembles"],
        "prmu": ["P", "R", "M", "U"],
        "year": 2020,
    },
    {"id": "2Zk8", "title": "Bees", "abstract": "A swarm.", "keyphrases": ["swarm"], "prmu": ["P"]},
]

# ---------------------------------------------------------------------------------------------- texts

SOURCE = "deep nets <eos> we train deep nets .\nbees <eos> a naïve swarm .\na line without a title .\n".encode()
TARGET = b"deep nets;training\nswarm;<peos>;zoology\n\n"
PREDICTED = b"deep nets;hidden layers;<peos>;training\nswarm\n\n"

AKE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<root>
  <document>
    <sentences>
      <sentence id="1" section="title" type="title" confidence="0.990309">
        <tokens>
          <token id="1"><word>Bee</word><lemma>bee</lemma><POS>NN</POS></token>
          <token id="2"><word>Swarms</word><lemma>swarm</lemma><POS>NNS</POS></token>
        </tokens>
      </sentence>
      <sentence id="7" section="abstract" type="bodyText">
        <tokens>
          <token id="1"><word>Naïve</word><lemma>naïve</lemma><POS>JJ</POS></token>
          <token id="2"><word>-LRB-</word><lemma>-lrb-</lemma><POS>-LRB-</POS></token>
          <token id="3"><word>R&amp;D</word><lemma>r&amp;d</lemma><POS>NN</POS></token>
        </tokens>
      </sentence>
    </sentences>
  </document>
</root>
""".encode()
AKE_REFERENCES = b"""{
    "C-1": [
        ["bee swarm", "swarm of bee"],
        ["honei"]
    ],
    "H-12": [
        ["beehiv"]
    ]
}
"""
AKE_PREDICTED = b'{"C-1": [["bee swarm", 0.9], ["honei", 0.25]], "H-12": [["beehiv"]]}\n'

ABSTRACT = (
    b"A survey of swarms of honey bees, and of what people\r\n\tsay about them\r\n"
    b"This paper looks at honey bees. It finds that many\r\n\tbees are a swarm.\r\n"
)
FREE = b"honey bees; swarm\r\n\tintelligence; bee hives\r\n"
CONTROLLED = b"entomology; insects\r\n"
HULTH_FILES = {".abstr": ABSTRACT, ".uncontr": FREE, ".contr": CONTROLLED}

ANSWERS = "C-1 : bee swarm,number of bee+bee number,honei ,ﬂight\nH-12 : beehiv,real-time bee\n".encode()
PAPER = b"Swarms of Honey Bees\nAnn Author and Bob Writer\nABSTRACT\nBees are a swarm.\n"

TEXT, KEYS = "Swarms of bees.\nA naïve swarm leaves the hive.\n".encode(), b"swarm\nhoney bees\n"


# ---------------------------------------------------------------------------------------------- catalogues

CATALOGUE_TABLE = """\
DOI;Titre;Résumé;Mots-clés;Année
10.1234/a;Essaims d'abeilles;Un essaim quitte la ruche.;abeilles | essaim;2020
10.1234/b;Guêpes;"Les guêpes; elles bâtissent.";nids | guêpes;2021
""".encode()
BIBTEX = rb"""% a library
@string{journal = "Journal of " # {Bees}}
@article{swarm20,
  author = {Ann Apis and {The Bee Group}},
  title = {{S}warms of na{\"\i}ve bees},
  journal = journal,
  abstract = "A swarm leaves the hive \& is {\'e}lan.",
  keywords = {honey bees, swarm},
  year = 2020
}
@comment{jabref-meta: grouping}
@book(nests21, title = {Nests}, keywords = {Nests, paper; wasps;},)
"""
END = "ER  - "
RIS = f"""\
TY  - JOUR
TI  - Swarms of naïve bees
AB  - A swarm leaves the hive
 and is brave.
KW  - honey bees
KW  - swarm
DO  - 10.1234/a
{END}

TY  - BOOK
T1  - Nests
N2  - Paper wasps build nests.
KW  - nests; wasps
DO  - 10.1234/b
{END}
""".encode()
JSONLD = """\
{"@context": "https://schema.org", "@graph": [
 {"@type": "ScholarlyArticle", "@id": "https://doi.org/10.1234/a", "identifier": "10.1234/a", "name": "Swarms",
  "abstract": "A naïve swarm.",
  "keywords": ["bees", {"@type": "DefinedTerm", "@id": "http://x.org/1", "name": "swarm"}]},
 {"@type": "CreativeWork", "identifier": {"@type": "PropertyValue", "value": 7}, "name": "Nests", "keywords": "a, b"}
]}
""".encode()


def excel(rows: Iterable[Iterable[Any]]) -> bytes:
    """An Excel file with one sheet, the same bytes each time."""
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"in_memory": True})
    book.set_properties({"created": datetime(2020, 1, 1)})
    sheet = book.add_worksheet("Titel")
    for number, row in enumerate(rows):
        sheet.write_row(number, 0, row)
    book.close()
    return made.getvalue()


# ---------------------------------------------------------------------------------------------- samples

ROWS: Records = [
    {"id": "d1", "title": "Bees", "text": "A naïve swarm.", "keyphrases": ["swarm", "zoology"], "scores": [0.9, 0.5]},
    {"id": "d2", "title": None, "text": "Deep nets.", "keyphrases": [], "scores": None},
]
MIDAS_ROWS: Records = [
    {
        "id": 1001,
        "document": ["Trees", "grow"],
        "doc_bio_tags": ["B", "O"],
        "extractive_keyphrases": ["trees"],
        "abstractive_keyphrases": ["forests"],
    }
]


def saved_dataset(records: Records) -> dict[str, bytes]:
    """The files that `save_to_disk` of the Hugging Face library writes."""
    table = pyarrow.Table.from_pylist(records)
    made = io.BytesIO()
    with pyarrow.ipc.new_stream(made, table.schema) as stream:
        stream.write_table(table)
    text = {"dtype": "string", "_type": "Value"}
    features = {
        name: {"feature": text, "_type": "List"} if name != "id" else {"dtype": "int64", "_type": "Value"}
        for name in table.column_names
    }
    state: dict[str, Any] = {
        "_data_files": [{"filename": "data-00000-of-00001.arrow"}],
        "_fingerprint": "2549b329fc494068",
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    return {
        "data-00000-of-00001.arrow": made.getvalue(),
        "dataset_info.json": json.dumps({"citation": "", "features": features}, indent=2).encode(),
        "state.json": json.dumps(state, indent=2).encode(),
    }


def _of_records(name: str, file: str, records: Records, form: str = "", **more: Any) -> Sample:
    return Sample(name, form or name, {file: json_lines(records)}, **more)


SAMPLES = (
    _of_records("karat corpus", "corpus.jsonl", DOCUMENTS, "karat", roles=("corpus",)),
    _of_records("karat run", "run.jsonl", PREDICTIONS, "karat", roles=("run",)),
    Sample("karat .gz", "karat", {"corpus.jsonl.gz": gzipped(json_lines(DOCUMENTS))}, roles=("corpus",)),
    Sample("karat .zst", "karat", {"run.jsonl.zst": zstandardised(json_lines(PREDICTIONS))}, roles=("run",)),
    Sample("csv", "csv", {"corpus.csv": DOCUMENT_TABLE.encode()}, roles=("corpus",)),
    Sample("csv .gz", "csv", {"corpus.csv.gz": gzipped(DOCUMENT_TABLE.encode())}, roles=("corpus",)),
    Sample("tsv", "csv", {"run.tsv": RUN_TABLE.encode()}, roles=("run",)),
    Sample("xlsx", "xlsx", {"corpus.xlsx": excel(csv.reader(io.StringIO(DOCUMENT_TABLE)))}, roles=("corpus",)),
    Sample(
        "xlsx run", "xlsx", {"run.xlsx": excel([["id", "keyphrases", "scores"], [7, "a;b", "0.9;0.5"]])}, roles=("run",)
    ),
    Sample("table", "table", {"catalogue.csv": CATALOGUE_TABLE}),
    Sample(
        "table xlsx",
        "table",
        {"t.xlsx": excel([["Id", "Title", "Abstract", "Subjects"], [7, "Bees", "A swarm.", "bees, swarms, hives"]])},
    ),
    Sample("bibtex", "bibtex", {"library.bib": BIBTEX}),
    Sample("ris", "ris", {"export.ris": RIS}),
    Sample("jsonld", "jsonld", {"works.jsonld": JSONLD}),
    Sample("parquet", "parquet", {"corpus.parquet": parquet_table(ROWS)}),
    Sample("chan corpus", "chan", {"src.txt": SOURCE, "trg.txt": TARGET}, "{}/src.txt+{}/trg.txt", ("corpus",)),
    Sample("chan run", "chan", {"pred.txt": PREDICTED}, roles=("run",)),
    Sample(
        "chan .gz",
        "chan",
        {"src.txt.gz": gzipped(SOURCE), "trg.txt.zst": zstandardised(TARGET)},
        "{}/src.txt.gz+{}/trg.txt.zst",
        ("corpus",),
    ),
    _of_records("kp20k", "kp20k_testing.json", PAPERS),
    Sample("kp20k list", "kp20k", {"kp20k.json": json_list(PAPERS)}),
    _of_records("kptimes", "KPTimes.test.jsonl", NEWS),
    _of_records("stackex", "stackexchange_test.json", QUESTIONS),
    _of_records("opennmt corpus", "kp20k_test.json", OPENNMT_PAPERS, "opennmt", roles=("corpus",)),
    _of_records("opennmt run", "kp20k.pred", OPENNMT_PREDICTED, "opennmt", roles=("run",)),
    _of_records("opennmt-top", "kp20k.pred", OPENNMT_PREDICTED, roles=("run",), sniffed="opennmt"),
    _of_records("openkp", "OpenKPDev.jsonl", PAGES),
    _of_records("openkp run", "predicted.jsonl", PAGES_PREDICTED, "openkp", roles=("run",)),
    _of_records("kpeval", "kp20k_hypotheses_linked.json", LINKED),
    _of_records("midas", "test.jsonl", MIDAS),
    Sample("midas parquet", "midas", {"test.parquet": parquet_table(MIDAS_ROWS)}),
    Sample("midas saved", "midas", saved_dataset(MIDAS_ROWS)),
    _of_records("ldkp", "test.jsonl", LDKP),
    _of_records("prmu", "test.jsonl", PRMU),
    Sample("ake", "ake", {"test.author.stem.json": AKE_REFERENCES}),
    Sample("ake run", "ake", {"predicted.json": AKE_PREDICTED}, roles=("run",)),
    Sample(
        "ake folder",
        "ake",
        {
            "references/test.author.json": AKE_REFERENCES,
            "references/test.reader.json": AKE_REFERENCES,
            "test/C-1.xml": AKE_XML,
            "test/H-12.xml.gz": gzipped(AKE_XML),
        },
        roles=("corpus",),
    ),
    Sample(
        "ake pair",
        "ake",
        {"refs.json": AKE_REFERENCES, "test/C-1.xml": AKE_XML, "test/H-12.xml": AKE_XML},
        "{}/test+{}/refs.json",
        ("corpus",),
    ),
    Sample(
        "corenlp pair",
        "corenlp",
        {"refs.json": AKE_REFERENCES, "test/C-1.xml": AKE_XML, "test/H-12.xml": AKE_XML},
        "{}/test+{}/refs.json",
        ("corpus",),
        "ake",
    ),
    Sample(
        "inspec",
        "inspec",
        {f"{n}{end}": text for n in (193, 194) for end, text in HULTH_FILES.items()},
    ),
    Sample("semeval", "semeval", {"test.combined.stem.final": ANSWERS}),
    Sample(
        "semeval folder",
        "semeval",
        {
            "test/C-1.txt.final": PAPER,
            "test/H-12.txt.final": PAPER,
            "test_answer/test.author.stem.final": ANSWERS,
            "test_answer/test.combined.stem.final": ANSWERS,
        },
        roles=("corpus",),
    ),
    Sample(
        "semeval pair",
        "semeval",
        {"answers.final": ANSWERS, "test/C-1.txt.final": PAPER, "test/H-12.txt.final": PAPER},
        "{}/test+{}/answers.final",
        ("corpus",),
    ),
    Sample(
        "folder of documents",
        "folder",
        {
            "a.md": b"# Swarms\nOf bees.\n",
            "a.key": KEYS,
            "b.html": html_of("Nests", ["Wasps build nests."]),
            "b.tsv": b"<http://x.org/1>\tnests\n",
            "sub/c.docx": docx_of("Ants", ["Ants walk."]),
            "sub/d.pdf": pdf_of([["On Moths", "Moths fly at night."]]),
        },
        roles=("corpus",),
    ),
    Sample("folder", "folder", {"a.txt": TEXT, "a.key": KEYS, "b.txt": TEXT, "b.key": KEYS}),
    Sample(
        "folder of two",
        "folder",
        {"docsutf8/a.txt": TEXT, "docsutf8/b.txt.gz": gzipped(TEXT), "keys/a.key": KEYS, "keys/b.key": KEYS},
    ),
)

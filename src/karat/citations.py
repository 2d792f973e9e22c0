"""What a number rests on, to be cited: papers as BibTeX, and the short form of a signature.

Which papers a protocol rests on is data of its preset, `Protocol.cites`: the keys of `PAPERS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from karat.errors import InputError
from karat.protocol import Protocol, parse_protocol, signature_facts

HASH = 4  # digits of the hash of references in a short signature
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+) (.+)")  # the script of a preset: a repository, and what of it


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication: its authors as `Family, Given`, and its fields as BibTeX has them."""

    key: str
    kind: Literal["inproceedings", "article", "book", "misc", "software"]
    authors: tuple[str, ...]
    title: str
    fields: tuple[tuple[str, str], ...]

    @property
    def year(self) -> str:
        """When it appeared; "" where that is not said."""
        return dict(self.fields).get("year", "")

    def cited(self) -> str:
        """How running text names it.

        >>> PAPERS["holm1979"].cited(), PAPERS["chan2019rewards"].cited()
        ('Holm, 1979', 'Chan et al., 2019')
        """
        families = [author.partition(",")[0].strip("{}") for author in self.authors]
        who = f"{families[0]} et al." if len(families) > 2 else " and ".join(families)
        return f"{who}, {self.year}" if self.year else who

    def bibtex(self) -> str:
        """The entry of a BibTeX file."""
        fields = {"author": " and ".join(self.authors), "title": f"{{{self.title}}}", **dict(self.fields)}
        lines = (f"  {name} = {{{value}}}," for name, value in fields.items())
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


ACL = "Annual Meeting of the Association for Computational Linguistics"


def _paper(key: str, authors: str, title: str, **fields: str) -> Paper:
    kind = "article" if "journal" in fields else "book" if "publisher" in fields else "inproceedings"
    return Paper(key, kind, tuple(authors.split(" and ")), title, tuple(fields.items()))  # type: ignore[arg-type]


_LISTED = (
    _paper(
        "meng2017deep",
        "Meng, Rui and Zhao, Sanqiang and Han, Shuguang and He, Daqing and Brusilovsky, Peter and Chi, Yu",
        "Deep Keyphrase Generation",
        booktitle=f"Proceedings of the 55th {ACL} (Volume 1: Long Papers)",
        pages="582--592",
        year="2017",
    ),
    _paper(
        "chan2019rewards",
        "Chan, Hou Pong and Chen, Wang and Wang, Lu and King, Irwin",
        "Neural Keyphrase Generation via Reinforcement Learning with Adaptive Rewards",
        booktitle=f"Proceedings of the 57th {ACL}",
        pages="2163--2174",
        year="2019",
    ),
    _paper(
        "chen2020exclusive",
        "Chen, Wang and Chan, Hou Pong and Li, Piji and King, Irwin",
        "Exclusive Hierarchical Decoding for Deep Keyphrase Generation",
        booktitle=f"Proceedings of the 58th {ACL}",
        pages="1095--1105",
        year="2020",
    ),
    _paper(
        "gallina2020evaluation",
        r"Gallina, Ygor and Boudin, Florian and Daille, B{\'e}atrice",
        "Large-Scale Evaluation of Keyphrase Extraction Models",
        booktitle="Proceedings of the ACM/IEEE Joint Conference on Digital Libraries in 2020",
        pages="271--278",
        year="2020",
    ),
    _paper(
        "ye2021one2set",
        "Ye, Jiacheng and Gui, Tao and Luo, Yichao and Xu, Yige and Zhang, Qi",
        "One2Set: Generating Diverse Keyphrases as a Set",
        booktitle=f"Proceedings of the 59th {ACL} and the 11th International Joint Conference on Natural Language "
        "Processing (Volume 1: Long Papers)",
        pages="4598--4608",
        year="2021",
    ),
    _paper(
        "meng2021empirical",
        "Meng, Rui and Yuan, Xingdi and Wang, Tong and Zhao, Sanqiang and Trischler, Adam and He, Daqing",
        "An Empirical Study on Neural Keyphrase Generation",
        booktitle="Proceedings of the 2021 Conference of the North American Chapter of the Association for "
        "Computational Linguistics: Human Language Technologies",
        pages="4985--5007",
        year="2021",
    ),
    _paper(
        "raychowdhury2022kpdrop",
        "{Ray Chowdhury}, Jishnu and Park, Seo Yeon and Kundu, Tuhin and Caragea, Cornelia",
        "KPDROP: Improving Absent Keyphrase Generation",
        booktitle="Findings of the Association for Computational Linguistics: EMNLP 2022",
        pages="4853--4870",
        year="2022",
    ),
    _paper(
        "kundu2023analysis",
        "Kundu, Tuhin and {Ray Chowdhury}, Jishnu and Caragea, Cornelia",
        "Neural Keyphrase Generation: Analysis and Evaluation",
        journal="arXiv preprint arXiv:2304.13883",
        year="2023",
    ),
    _paper(
        "wu2024kpeval",
        "Wu, Di and Yin, Da and Chang, Kai-Wei",
        "KPEval: Towards Fine-Grained Semantic-Based Keyphrase Evaluation",
        booktitle="Findings of the Association for Computational Linguistics: ACL 2024",
        pages="1959--1981",
        year="2024",
    ),
    _paper(
        "thomas2024lessons",
        "Thomas, Edwin and Vajjala, Sowmya",
        "Keyphrase Generation: Lessons from a Reproducibility Study",
        booktitle="Proceedings of the 2024 Joint International Conference on Computational Linguistics, Language "
        "Resources and Evaluation (LREC-COLING 2024)",
        year="2024",
    ),
    _paper(
        "houbre2025composition",
        r"Houbre, Ma{\"e}l and Boudin, Florian and Daille, B{\'e}atrice and Aizawa, Akiko",
        "Self-Compositional Data Augmentation for Scientific Keyphrase Generation",
        booktitle="Proceedings of the 24th ACM/IEEE Joint Conference on Digital Libraries",
        year="2025",
    ),
    _paper(
        "houbre2026homogeneity",
        r"Houbre, Ma{\"e}l and Boudin, Florian and Daille, B{\'e}atrice",
        "Evaluating the Homogeneity of Keyphrase Prediction Models",
        journal="arXiv preprint arXiv:2602.12989",
        year="2026",
    ),
    _paper(
        "porter1980",
        "Porter, Martin F.",
        "An Algorithm for Suffix Stripping",
        journal="Program",
        volume="14",
        number="3",
        pages="130--137",
        year="1980",
    ),
    _paper(
        "holm1979",
        "Holm, Sture",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        journal="Scandinavian Journal of Statistics",
        volume="6",
        number="2",
        pages="65--70",
        year="1979",
    ),
    _paper(
        "westfall1993",
        "Westfall, Peter H. and Young, S. Stanley",
        "Resampling-Based Multiple Testing: Examples and Methods for p-Value Adjustment",
        publisher="Wiley",
        year="1993",
    ),
    _paper(
        "benjamini1995",
        "Benjamini, Yoav and Hochberg, Yosef",
        "Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
        journal="Journal of the Royal Statistical Society: Series B",
        volume="57",
        number="1",
        pages="289--300",
        year="1995",
    ),
    _paper(
        "efron1987",
        "Efron, Bradley",
        "Better Bootstrap Confidence Intervals",
        journal="Journal of the American Statistical Association",
        volume="82",
        number="397",
        pages="171--185",
        year="1987",
    ),
)
PAPERS = {paper.key: paper for paper in _LISTED}


def program(version: str) -> Paper:
    """karat itself, as CITATION.cff has it."""
    title = "karat: how good are your keyphrases"
    return Paper("karat", "software", ("{karat developers}",), title, (("version", version),))


def papers_of(protocol: Protocol) -> list[Paper]:
    """The papers that a protocol rests on, that of its stemmer last."""
    stemmers = ("porter1980",) if protocol.matching.stemmer == "porter" else ()
    return [PAPERS[key] for key in dict.fromkeys((*protocol.cites, *stemmers))]


def script_of(protocol: Protocol) -> Paper | None:
    """The script that a protocol reproduces, where it is a file of a public repository."""
    found = _REPOSITORY.fullmatch(protocol.script)
    if found is None:
        return None
    repository, what = found.groups()
    key = re.sub(r"\W+", "-", repository.partition("/")[2].lower())
    fields = (("howpublished", f"GitHub repository {_escaped(repository)}"), ("note", _escaped(what)))
    owner = repository.partition("/")[0]
    return Paper(f"script-{key}", "misc", (f"{{{_escaped(owner)}}}",), _escaped(repository), fields)


def _escaped(text: str) -> str:
    return re.sub(r"[_%&#$]", r"\\\g<0>", text)


def entries(papers: Iterable[Paper]) -> str:
    """BibTeX of papers, each once."""
    return "\n\n".join({paper.key: paper.bibtex() for paper in papers}.values()) + "\n"


# ---------------------------------------------------------------------------------------------- signatures


def short_signature(signature: str) -> str:
    """The short form of a signature: program, protocol, version, and the first digits of the hash of the references.

    A set of references other than the keyphrases, references that were added, and the vocabulary whose concepts were
    compared are named behind these.

    >>> short_signature("karat,pad=k,hash=652d0a1b2c3d4e5f,karat=0.2.0")
    'karat|karat,pad=k|v0.2.0|refs:652d'
    """
    facts = signature_facts(signature)
    try:
        protocol = str(parse_protocol(signature))
    except InputError:  # of another version, which has other options
        protocol = signature.partition(",")[0]
    parts = ["karat", protocol]
    parts += [f"v{facts['karat']}"] if "karat" in facts else []
    parts += [f"refs:{facts['hash'][:HASH]}"] if "hash" in facts else []
    parts += [f"set:{facts['set']}"] if facts.get("set", "keyphrases") != "keyphrases" else []
    parts += [f"extra:{facts['extra'][:HASH]}"] if "extra" in facts else []
    if "vocabulary" in facts:
        name, digits, *options = facts["vocabulary"].split(":")
        parts.append(":".join(["vocabulary", name, digits[:HASH], *options]))
    return "|".join(parts)


def short_signatures(named: Sequence[tuple[str, str]]) -> str:
    """The short signatures of several corpora in one text, what they have in common once; (corpus, signature) each.

    >>> short_signatures([("bees", "karat,hash=652d00,karat=1.0"), ("ants", "karat,hash=1f2e00,karat=1.0")])
    'karat|karat|v1.0|refs:652d (bees), 1f2e (ants)'
    """
    shortened = [(name, *short_signature(text).rpartition("|refs:")) for name, text in named]
    found: dict[tuple[str, str], list[str]] = {}
    for name, start, refs, rest in shortened:
        found.setdefault((start, refs), []).append(f"{rest} ({name})" if len(named) > 1 else rest)
    return "; ".join(f"{start}{refs}{', '.join(each)}" for (start, refs), each in found.items())

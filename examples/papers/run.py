"""Trains the systems of the papers and makes their tables, figures and one page: python run.py DATA OUT.

What was done is not done again: after an error, an interrupt or a kill, the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import tables
from corpora import Data, write_alike, write_both, write_first
from steps import Runner, Step, StepError
from systems import (
    EXTRACTORS,
    FIRST,
    MADE,
    NAMES,
    OTHER_DOMAIN,
    PRETRAINED,
    RANDOM,
    Generator,
    begun,
    chosen,
    groups,
    hybrids,
    minutes_of_first,
)
from weights import write_weights

from karat.errors import InputError

BATCH = 16
FEW = ("copyrnn", "transformer", "exhird-h", "one2set", "kpdrop-a")  # of which the analysis paper's figures are drawn
SEARCHED = ("copyrnn", "kpdrop-a")  # which are decoded with beams, too
BEAMS = (5, 50)
FIGURES = ("kpp", "tokens", "reliability", "positions", "missed")
ASKED = ("f1@5:present", "f1@M:present", "f1@5", "f1@M:absent", "r@M:absent", "duplicate_ratio")
COLUMNS = ("f1@5:present", "f1@5", "f1@M:absent")  # of the table, for each corpus
FEWER = 2000  # documents that kea and the tokenizers of new weights learn from


class Study:
    """The steps of the study, and what is made of their output."""

    def __init__(
        self,
        data: Data,
        out: Path,
        generators: tuple[Generator, ...],
        length: tuple[str, ...],
        jobs: int,
        scores: bool = False,
    ) -> None:
        self.data, self.out, self.length, self.generators, self.scores = data, out, length, generators, scores
        self.published = [each.name for each in generators if each.published]
        self.few = [each for each in FEW if each in self.published]
        self.searched = [each for each in SEARCHED if each in self.published]
        self.hybrids = hybrids(generators)
        self.runner = Runner(out / "steps", jobs)
        self.test, self.made = data.part("acm-cr", "test"), data.tested
        self.made.mkdir(parents=True, exist_ok=True)
        for name in ("models", "weights", "results", "figures", *(f"runs/{each}" for each in self.corpora())):
            (out / name).mkdir(parents=True, exist_ok=True)
        for source in ("acm-cr", "papyrus-en"):
            (out / "transfer" / source).mkdir(parents=True, exist_ok=True)
        (out / "decoding").mkdir(exist_ok=True)

    def run(self) -> None:
        """Everything, in an order in which what is quick is seen first."""
        self.data.write_first()
        self.write_beginnings()
        if self.scores:
            self.time_first([])
            self.runner.run([*self.trainings(), *self.predictions()])
            self.runner.run([*self.comparison(), self.page()])
            self.write_results(self.tables_of_scores())
            return
        write_alike(self.data, self.made)
        self.time_first(self.reformulate())
        both = self.made / "inspec.both.jsonl"
        if not both.is_file():
            write_both(self.data.other("inspec"), self.made / "inspec.kept.jsonl", both)
        other = self.train(OTHER_DOMAIN, "papyrus-en", ("--steps", self.steps()))
        self.runner.run([*self.trainings(), other, *self.predictions(), *self.decodings(), *self.transfers()])
        self.runner.run(self.results())
        self.write_results(self.tables_of_scores() | self.other_tables())

    def time_first(self, beside: Iterable[Step]) -> None:
        """Runs these steps; and the first training, too, where that is what tells how long the others are."""
        first = [self.first()] if self.length[0] == "--minutes" else []
        self.runner.run([*first, *beside])

    def corpora(self) -> dict[str, str]:
        """The corpora that all systems predict for."""
        if self.scores:
            return {"acm-cr": self.test, "inspec": self.data.other("inspec")}
        alike, both = self.made / "alike.jsonl", self.made / "inspec.both.jsonl"
        return {"acm-cr": self.test, "alike": str(alike), "inspec": str(both)}

    def write_beginnings(self) -> None:
        """The documents that kea learns from, and new weights of the pretrained generators that have none."""
        if not self.fewer.is_file():
            write_first(self.data.part("acm-cr", "train"), FEWER, self.fewer)
        for kind in MADE:
            if kind + RANDOM in self.published:
                write_weights(kind, str(self.fewer), self.out / "weights" / kind)

    # ------------------------------------------------------------------------------------------ steps

    def train(self, system: Generator, corpus: str, length: Iterable[str]) -> Step:
        """The training of a generator."""
        name = system.name if corpus == "acm-cr" else f"{system.name}-{corpus}"
        files = (self.data.part(corpus, "train"), "--valid", self.data.part(corpus, "valid"))
        start = ("--from", self.model(system.start)) if system.start else ()
        options = (*system.flags, *start, "--batch", str(BATCH), *length, "--resume")
        after = (f"train-{system.start}",) if system.start else ()
        return Step(f"train-{name}", ("train", system.spec, *files, "-o", self.model(name), *options), after)

    def first(self) -> Step:
        """The training of the generator that is compared with."""
        return self.train(self.generators[0], "acm-cr", self.length)

    def trainings(self) -> Iterator[Step]:
        """The first training and all others, each as long as that one; those that take longest come first."""
        yield self.first()
        for system in sorted(self.generators[1:], key=lambda each: -each.cost):
            yield self.train(system, "acm-cr", ("--steps", str(max(1, round(int(self.steps()) * system.share)))))
        yield Step("train-kea", ("train", "kea", str(self.fewer), "-o", self.model("kea.json")))

    def steps(self) -> str:
        """The steps of the first training: those that were asked for, or that fitted into its minutes."""
        if self.length[0] == "--steps":
            return self.length[1]
        card = json.loads((self.out / "models" / FIRST / "model.json").read_text(encoding="utf-8"))
        return str(card["steps"])

    def reformulate(self) -> Iterator[Step]:
        """Inspec in other words: by a language model where there is an endpoint, else by synonyms."""
        via = "paraphrase" if os.environ.get("KARAT_LLM_BASE_URL") else "synonyms"
        made, inspec = self.made, self.data.other("inspec")
        new = str(made / f"inspec.{via}.jsonl")
        yield Step("reformulate", ("pairs", "reformulate", inspec, "--via", via, "-o", new))
        kept = ("-o", str(made / "inspec.kept.jsonl"), "--pairs", str(made / "inspec.pairs.jsonl"))
        yield Step("filter", ("pairs", "filter", inspec, new, *kept), ("reformulate",))

    def predictions(self) -> Iterator[Step]:
        """What all systems predict; those that rank phrases give 5 where indexing is compared, as in the paper."""
        for corpus, path in self.corpora().items():
            best = ("-n", "10" if corpus == "acm-cr" else "5")
            for system in (each for each in self.generators if each.published):
                model = ",".join(filter(None, (self.model(system.name), system.search)))
                n = best if system.ranked else ("-n", "60")
                yield self.predict(f"runs/{corpus}/{system.name}", model, path, (system.name,), n)
            for each in EXTRACTORS:
                counts = ("--df", self.data.part("acm-cr", "train")) if each.counts else ()
                model = f"{each.name},model={self.model('kea.json')}" if each.trained else each.name
                after = (each.name,) if each.trained else ()
                yield self.predict(f"runs/{corpus}/{each.name}", model, path, after, (*best, *counts))
            yield from self.joins(corpus, path)

    def joins(self, corpus: str, path: str) -> Iterator[Step]:
        """The runs of hybrids, of the runs of their parts."""
        for each in self.hybrids:
            parts = ("--present", self.written(corpus, each.present), "--absent", self.written(corpus, each.absent))
            arguments = ("run", "ensemble", *parts, "--corpus", path, "-o", self.written(corpus, each.name))
            after = tuple(f"predict-runs-{corpus}-{part}" for part in (each.present, each.absent))
            yield Step(f"join-{corpus}-{each.name}", arguments, after)

    def decodings(self) -> Iterator[Step]:
        """The test documents again, with beams."""
        for name in self.searched:
            for beam in BEAMS:
                model = f"{self.model(name)},beam={beam}"
                yield self.predict(f"decoding/{name}.{beam}", model, self.test, (name,), ("-n", "2000"))

    def transfers(self) -> Iterator[Step]:
        """Two copyrnn, of abstracts of computer science and of theses, on four corpora."""
        for source, model in (("acm-cr", OTHER_DOMAIN.name), ("papyrus-en", f"{OTHER_DOMAIN.name}-papyrus-en")):
            for corpus, path in self.tested().items():
                yield self.predict(f"transfer/{source}/{corpus}", self.model(model), path, (model,), ("-n", "60"))

    def predict(self, name: str, model: str, corpus: str, after: tuple[str, ...], options: tuple[str, ...]) -> Step:
        """The step that writes OUT/NAME.jsonl."""
        arguments = ("predict", model, corpus, *options, "-o", str(self.out / f"{name}.jsonl"))
        return Step(f"predict-{name.replace('/', '-')}", arguments, tuple(f"train-{each}" for each in after))

    def results(self) -> Iterator[Step]:
        """One comparison, one table, tables of homogeneity, figures of confidence and positions, and the page."""
        made, pairs = self.made, str(self.made / "test.pairs.jsonl")
        yield from self.comparison()
        for name, corpus, which in (
            ("reformulated", "inspec", "inspec"),
            ("shared", "alike", "alike"),
            ("shared-half", "alike", "alike-half"),
        ):
            of_pairs = str(made / f"{which}.pairs.jsonl")
            yield self.result(name, ("homogeneity", self.corpora()[corpus], of_pairs, *self.runs(corpus)))
        few = [self.written("acm-cr", name) for name in self.few]
        yield self.result("confidence", ("confidence", self.test, *few, "--protocol", "kundu2023"))
        yield self.result("positions", ("describe", self.test, *few, "--protocol", "kundu2023"))
        for kind in FIGURES:
            drawn = ("plot", kind, self.test, *few, "--protocol", "kundu2023")
            yield Step(f"plot-{kind}", (*drawn, "-o", str(self.out / "figures" / f"{kind}.svg")))
        yield Step("mine", ("pairs", "mine", self.test, "--min", "0.25", "--stem", "-o", pairs))
        yield self.page(pairs)

    def comparison(self) -> Iterator[Step]:
        """All systems on acm-cr, the table, and the learning curves."""
        metrics = tuple(word for each in ASKED for word in ("-m", each))
        yield self.result("compare", ("compare", self.test, *self.runs("acm-cr"), *metrics, "--baseline", FIRST))
        yield from self.table()
        models = [self.model(name) for name in self.published]
        yield Step("plot-training", ("plot", "training", *models, "-o", str(self.out / "figures" / "training.svg")))

    def page(self, pairs: str | None = None) -> Step:
        """The page of all systems, perhaps with pairs of alike documents."""
        alike = () if pairs is None else ("--pairs", pairs)
        arguments = (
            "report",
            self.test,
            *self.runs("acm-cr"),
            *alike,
            "--title",
            "The systems of the papers on acm-cr",
        )
        after = () if pairs is None else ("mine",)
        return Step("report", (*arguments, "-o", str(self.out / "report.html")), after)

    def table(self) -> Iterator[Step]:
        """All systems on acm-cr and Inspec, in parts, as Markdown and as LaTeX."""
        columns = tuple(word for each in COLUMNS for word in ("-m", each))
        scored = []
        for corpus, path in (("acm-cr", self.test), ("inspec", self.data.other("inspec"))):
            scored.append(str(self.out / "results" / f"{corpus}.karat"))
            extra = (
                ("--extra", "ignore") if corpus == "inspec" and not self.scores else ()
            )  # its runs have the reformulations, too
            yield Step(
                f"score-{corpus}",
                ("score", f"{corpus}={path}", *self.runs(corpus), *columns, *extra, "-o", scored[-1]),
            )
        parts = [f"{name}={','.join(systems)}" for name, systems in groups(self.generators).items()]
        grouped = tuple(word for each in parts for word in ("--group", each))
        arguments = ("table", *scored, *grouped, "--baseline", FIRST, "--percent")
        for suffix in ("md", "tex"):
            output = str(self.out / "results" / f"table.{suffix}")
            yield Step(f"table-{suffix}", (*arguments, "-o", output), ("score-acm-cr", "score-inspec"))

    def result(self, name: str, arguments: tuple[str, ...]) -> Step:
        """The step that writes OUT/results/NAME.md."""
        return Step(name, (*arguments, "-o", str(self.out / "results" / f"{name}.md")))

    # ------------------------------------------------------------------------------------------ what is where

    def model(self, name: str) -> str:
        """Where a model is kept, by its name: the directory of a generator, the file of kea."""
        return str(self.out / "models" / name)

    @property
    def fewer(self) -> Path:
        """The documents that kea and tokenizers learn from, beside those that they are taken from."""
        taken = Path(self.data.part("acm-cr", "train"))
        first = self.data.made if self.data.train is None else taken.parents[1]
        return first / f"acm-cr.{FEWER}.jsonl.gz"

    def written(self, corpus: str, system: str) -> str:
        """The run of a system."""
        return str(self.out / "runs" / corpus / f"{system}.jsonl")

    def runs(self, corpus: str) -> list[str]:
        """What the systems predict for a corpus, in the order of the systems."""
        names = [*self.published, *(each.name for each in self.hybrids), *(each.name for each in EXTRACTORS)]
        return [self.written(corpus, name) for name in names]

    def tested(self) -> dict[str, str]:
        """The corpora of train x test."""
        papyrus, inspec, questions = (
            self.data.part("papyrus-en", "test"),
            self.data.other("inspec"),
            self.data.other("stackexchange"),
        )
        return {"acm-cr": self.test, "papyrus-en": papyrus, "inspec": inspec, "stackexchange": questions}

    def tables_of_scores(self) -> dict[str, str]:
        """What was trained, and the tables of all systems."""
        models = [Path(self.model(each.name)) for each in self.generators]
        other = [] if self.scores else [Path(self.model(f"{OTHER_DOMAIN.name}-papyrus-en"))]
        return {
            "What was trained": tables.trained([*models, *other]),
            "All systems on acm-cr": self.read("compare"),
            "All systems on acm-cr and Inspec": self.read("table"),
        }

    def other_tables(self) -> dict[str, str]:
        """The tables of homogeneity and of confidence, and those that no single command makes."""
        runs = [Path(each) for each in self.runs("acm-cr")]
        beams = {
            name: [Path(self.written("acm-cr", name))]
            + [self.out / "decoding" / f"{name}.{beam}.jsonl" for beam in BEAMS]
            for name in self.searched
        }
        moved = {
            source: {corpus: self.out / "transfer" / source / f"{corpus}.jsonl" for corpus in self.tested()}
            for source in ("acm-cr", "papyrus-en")
        }
        return {
            "Homogeneity: Inspec and its reformulations (Table 2)": self.read("reformulated"),
            "Homogeneity: documents that share a quarter of their keyphrases or more (Table 3)": self.read("shared"),
            "Homogeneity: documents that share half of their keyphrases or more (Table 3)": self.read("shared-half"),
            "Confidence": self.read("confidence"),
            "Positions": self.read("positions"),
            "Greedy and beams": tables.decoding(self.test, beams, ["greedy", *(f"beam {each}" for each in BEAMS)]),
            "Macro and micro averages": tables.averages(self.test, runs),
            "M, O and k": tables.cutoffs(self.test, runs),
            "Trained on and tested on: F1@M, present / absent": tables.transfer(self.tested(), moved),
        }

    def write_results(self, made: Mapping[str, str]) -> None:
        """Writes results.md, which has all tables."""
        path = self.out / "results.md"
        path.write_text("\n".join(f"## {title}\n\n{each}" for title, each in made.items()), encoding="utf-8")
        print(f"{path}, {self.out / 'report.html'}, {self.out / 'figures'}")

    def read(self, name: str) -> str:
        """What a step wrote; its headings are below those of results.md."""
        written = (self.out / "results" / f"{name}.md").read_text(encoding="utf-8")
        return re.sub("^#", "###", written, flags=re.MULTILINE)


def number(text: str) -> int:
    """How many documents. Raises ArgumentTypeError if it is none."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of documents")
    return int(text)


def pretrained(text: str) -> Mapping[str, str]:
    """The weights that systems begin with. Raises ArgumentTypeError if a system has none or they are not there."""
    found = {}
    for each in text.split(","):
        name, _, model = each.partition("=")
        if name not in PRETRAINED:
            raise argparse.ArgumentTypeError(f"{name!r} begins with no pretrained weights: {', '.join(PRETRAINED)} do")
        if not model.startswith(("hf:", "package:")) and not Path(model).is_dir():
            raise argparse.ArgumentTypeError(f"{each}: there is no such directory")
        found[name] = model
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the corpora")
    parser.add_argument("out", type=Path, help="folder for everything that is made")
    parser.add_argument("--minutes", type=float, default=4, help="of training, the mean of all generators (default 4)")
    parser.add_argument("--documents", type=int, help="that each generator sees, instead of --minutes")
    parser.add_argument("--systems", default="", help="by name, as copyrnn,hybrid (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="commands at a time (default: cores)")
    parser.add_argument("--scores", action="store_true", help="only the comparison, the table and the page")
    parser.add_argument("--train", type=number, help="only the first N documents of a training set")
    parser.add_argument("--test", type=number, help="only the first N documents to predict for, and to validate with")
    parser.add_argument(
        "--weights", type=pretrained, default={}, help=f"pretrained ones, as bart=DIR,t5=DIR ({', '.join(PRETRAINED)})"
    )
    asked = parser.parse_args()
    data = Data(asked.data, asked.out / "corpora", asked.train, asked.test)
    if missing := data.missing():
        parser.error(f"not there: {', '.join(missing)}")
    names = [each for each in asked.systems.split(",") if each]
    if strange := [each for each in names if each not in NAMES]:
        parser.error(f"--systems {strange[0]}: there are {', '.join(NAMES)}")
    generators = tuple(begun(each, asked.weights, asked.out / "weights") for each in chosen(names))
    length = ("--minutes", f"{minutes_of_first(generators, asked.minutes):.2f}")
    if asked.documents:
        length = ("--steps", str(max(1, asked.documents // BATCH)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what is running ends, too
    try:
        Study(data, asked.out, generators, length, asked.jobs, asked.scores).run()
    except (StepError, InputError) as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

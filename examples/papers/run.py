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
from collections.abc import Iterable, Iterator
from pathlib import Path

import tables
from corpora import Data, write_alike, write_both
from steps import Runner, Step, StepError
from systems import EXTRACTORS, FIRST, GENERATORS, OTHER_DOMAIN, Generator, chosen, minutes_of_first

from karat.errors import InputError

BATCH = 16
FEW = ("copyrnn", "transformer", "exhird-h", "one2set", "kpdrop-a")  # of which the analysis paper's figures are drawn
SEARCHED = ("copyrnn", "kpdrop-a")  # which are decoded with beams, too
BEAMS = (5, 50)
FIGURES = ("kpp", "tokens", "reliability", "positions", "missed")
ASKED = ("f1@5:present", "f1@M:present", "f1@5", "f1@M:absent", "r@M:absent", "duplicate_ratio")


class Study:
    """The steps of the study, and what is made of their output."""

    def __init__(
        self, data: Data, out: Path, generators: tuple[Generator, ...], length: tuple[str, ...], jobs: int
    ) -> None:
        self.data, self.out, self.length, self.generators = data, out, length, generators
        self.published = [each.name for each in generators if each.published]
        self.few = [each for each in FEW if each in self.published]
        self.searched = [each for each in SEARCHED if each in self.published]
        self.runner = Runner(out / "steps", jobs)
        self.test = data.part("acm-cr", "test")
        for name in ("corpora", "models", "results", "figures", *(f"runs/{each}" for each in self.corpora())):
            (out / name).mkdir(parents=True, exist_ok=True)
        for source in ("acm-cr", "papyrus-en"):
            (out / "transfer" / source).mkdir(parents=True, exist_ok=True)
        (out / "decoding").mkdir(exist_ok=True)

    def run(self) -> None:
        """Everything, in an order in which what is quick is seen first."""
        write_alike(self.data, self.out / "corpora")
        self.runner.run([self.train(self.generators[0], "acm-cr", self.length), *self.reformulate()])
        both = self.out / "corpora" / "inspec.both.jsonl"
        if not both.is_file():
            write_both(self.data.other("inspec"), self.out / "corpora" / "inspec.kept.jsonl", both)
        self.runner.run([*self.trainings(), *self.predictions(), *self.decodings(), *self.transfers()])
        self.runner.run(self.results())
        self.write_tables()

    def corpora(self) -> dict[str, str]:
        """The corpora that all systems predict for."""
        made = self.out / "corpora"
        return {"acm-cr": self.test, "alike": str(made / "alike.jsonl"), "inspec": str(made / "inspec.both.jsonl")}

    # ------------------------------------------------------------------------------------------ steps

    def train(self, system: Generator, corpus: str, length: Iterable[str]) -> Step:
        """The training of a generator."""
        name = system.name if corpus == "acm-cr" else f"{system.name}-{corpus}"
        files = (self.data.part(corpus, "train"), "--valid", self.data.part(corpus, "valid"))
        start = ("--from", self.model(system.start)) if system.start else ()
        options = (*system.flags, *start, "--batch", str(BATCH), *length, "--resume")
        after = (f"train-{system.start}",) if system.start else ()
        return Step(f"train-{name}", ("train", system.spec, *files, "-o", self.model(name), *options), after)

    def trainings(self) -> Iterator[Step]:
        """The trainings after the first, each as long as that one was; those that take longest come first."""
        card = json.loads((self.out / "models" / FIRST / "model.json").read_text(encoding="utf-8"))
        for system in sorted(self.generators[1:], key=lambda each: -each.cost):
            yield self.train(system, "acm-cr", ("--steps", str(max(1, round(card["steps"] * system.share)))))
        yield self.train(OTHER_DOMAIN, "papyrus-en", ("--steps", str(card["steps"])))

    def reformulate(self) -> Iterator[Step]:
        """Inspec in other words: by a language model where there is an endpoint, else by synonyms."""
        via = "paraphrase" if os.environ.get("KARAT_LLM_BASE_URL") else "synonyms"
        made, inspec = self.out / "corpora", self.data.other("inspec")
        new = str(made / f"inspec.{via}.jsonl")
        yield Step("reformulate", ("pairs", "reformulate", inspec, "--via", via, "-o", new))
        kept = ("-o", str(made / "inspec.kept.jsonl"), "--pairs", str(made / "inspec.pairs.jsonl"))
        yield Step("filter", ("pairs", "filter", inspec, new, *kept), ("reformulate",))

    def predictions(self) -> Iterator[Step]:
        """What all systems predict; extractors give 5 phrases where indexing is compared, as in the paper."""
        for corpus, path in self.corpora().items():
            for name in self.published:
                model = f"{self.model(name)},repeats=true"
                yield self.predict(f"runs/{corpus}/{name}", model, path, (name,), ("-n", "60"))
            for each in EXTRACTORS:
                counts = ("--df", self.data.part("acm-cr", "train")) if each.counts else ()
                n = "10" if corpus == "acm-cr" else "5"
                yield self.predict(f"runs/{corpus}/{each.name}", each.name, path, (), ("-n", n, *counts))

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
        """One comparison, tables of homogeneity, figures of confidence and positions, and the page."""
        runs, made, pairs = self.runs("acm-cr"), self.out / "corpora", str(self.out / "corpora" / "test.pairs.jsonl")
        metrics = tuple(word for each in ASKED for word in ("-m", each))
        yield self.result("compare", ("compare", self.test, *runs, *metrics, "--baseline", FIRST))
        for name, corpus, which in (
            ("reformulated", "inspec", "inspec"),
            ("shared", "alike", "alike"),
            ("shared-half", "alike", "alike-half"),
        ):
            of_pairs = str(made / f"{which}.pairs.jsonl")
            yield self.result(name, ("homogeneity", self.corpora()[corpus], of_pairs, *self.runs(corpus)))
        few = [str(self.out / "runs" / "acm-cr" / f"{name}.jsonl") for name in self.few]
        yield self.result("confidence", ("confidence", self.test, *few, "--protocol", "kundu2023"))
        yield self.result("positions", ("describe", self.test, *few, "--protocol", "kundu2023"))
        for kind in FIGURES:
            drawn = ("plot", kind, self.test, *few, "--protocol", "kundu2023")
            yield Step(f"plot-{kind}", (*drawn, "-o", str(self.out / "figures" / f"{kind}.svg")))
        models = [self.model(name) for name in self.published]
        yield Step("plot-training", ("plot", "training", *models, "-o", str(self.out / "figures" / "training.svg")))
        yield Step("mine", ("pairs", "mine", self.test, "--min", "0.25", "--stem", "-o", pairs))
        page = ("report", self.test, *runs, "--pairs", pairs, "--title", "The systems of the papers on acm-cr")
        yield Step("report", (*page, "-o", str(self.out / "report.html")), ("mine",))

    def result(self, name: str, arguments: tuple[str, ...]) -> Step:
        """The step that writes OUT/results/NAME.md."""
        return Step(name, (*arguments, "-o", str(self.out / "results" / f"{name}.md")))

    # ------------------------------------------------------------------------------------------ what is where

    def model(self, name: str) -> str:
        """The directory of a generator."""
        return str(self.out / "models" / name)

    def runs(self, corpus: str) -> list[str]:
        """What the systems predict for a corpus, in the order of the systems."""
        names = [*self.published, *(each.name for each in EXTRACTORS)]
        return [str(self.out / "runs" / corpus / f"{name}.jsonl") for name in names]

    def tested(self) -> dict[str, str]:
        """The corpora of train x test."""
        papyrus, inspec, questions = (
            self.data.part("papyrus-en", "test"),
            self.data.other("inspec"),
            self.data.other("stackexchange"),
        )
        return {"acm-cr": self.test, "papyrus-en": papyrus, "inspec": inspec, "stackexchange": questions}

    def write_tables(self) -> None:
        """The tables that no single command makes, and results.md, which has all of them."""
        runs = [Path(each) for each in self.runs("acm-cr")]
        beams = {
            name: [self.out / "runs" / "acm-cr" / f"{name}.jsonl"]
            + [self.out / "decoding" / f"{name}.{beam}.jsonl" for beam in BEAMS]
            for name in self.searched
        }
        moved = {
            source: {corpus: self.out / "transfer" / source / f"{corpus}.jsonl" for corpus in self.tested()}
            for source in ("acm-cr", "papyrus-en")
        }
        models = [Path(self.model(each.name)) for each in self.generators]
        made = {
            "What was trained": tables.trained([*models, Path(self.model(f"{OTHER_DOMAIN.name}-papyrus-en"))]),
            "All systems on acm-cr": self.read("compare"),
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
        path = self.out / "results.md"
        path.write_text("\n".join(f"## {title}\n\n{each}" for title, each in made.items()), encoding="utf-8")
        print(f"{path}, {self.out / 'report.html'}, {self.out / 'figures'}")

    def read(self, name: str) -> str:
        """What a step wrote; its headings are below those of results.md."""
        written = (self.out / "results" / f"{name}.md").read_text(encoding="utf-8")
        return re.sub("^#", "###", written, flags=re.MULTILINE)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the corpora")
    parser.add_argument("out", type=Path, help="folder for everything that is made")
    parser.add_argument("--minutes", type=float, default=4, help="of training, the mean of all generators (default 4)")
    parser.add_argument("--documents", type=int, help="that each generator sees, instead of --minutes")
    parser.add_argument("--systems", default="", help="generators by name, as copyrnn,one2set (default: all)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="commands at a time (default: cores)")
    asked = parser.parse_args()
    data = Data(asked.data)
    if missing := data.missing():
        parser.error(f"not there: {', '.join(missing)}")
    names = [each for each in asked.systems.split(",") if each]
    if strange := [each for each in names if each not in {one.name for one in GENERATORS}]:
        parser.error(f"--systems {strange[0]}: there are {', '.join(each.name for each in GENERATORS)}")
    generators = chosen(names)
    length = ("--minutes", f"{minutes_of_first(generators, asked.minutes):.2f}")
    if asked.documents:
        length = ("--steps", str(max(1, asked.documents // BATCH)))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what is running ends, too
    try:
        Study(data, asked.out, generators, length, asked.jobs).run()
    except (StepError, InputError) as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

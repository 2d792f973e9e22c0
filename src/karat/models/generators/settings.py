"""How a generator is trained: typed options, without torch, so that they can be listed where it is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args

import msgspec

from karat.corpus import Document
from karat.errors import InputError
from karat.formats.load import DECODING_ERRORS
from karat.libraries import library
from karat.models.generators.seq2seq.settings import BART, T5, Seq2SeqLearning, Seq2SeqShape
from karat.models.generators.unikp.settings import TaggerLearning, TaggerShape, UniKPLearning, UniKPShape
from karat.options import option
from karat.registry import Registry

PRECISIONS = ("fp32", "bf16")
Peos = Literal["never", "between", "always"]  # `between`: only where there are present and absent keyphrases
AUGMENTS = ("60p",)
MINUTES = 10.0  # where nothing says how long
MOST_SEED = (1 << 32) - 1
MOST_SIZE, MOST_LAYERS, MOST_SLOTS = 100_000, 100, 1000

Options = TypeVar("Options")


def checked(kind: type[Options], values: Mapping[str, Any]) -> Options:
    """Options of plain values, each of its type; raises InputError where one is of another, or cannot be."""
    try:
        return msgspec.convert(dict(values), kind)
    except DECODING_ERRORS as error:
        raise InputError(str(error)) from None


def _within(shape: Any, most: int, *names: str) -> None:
    """Raises InputError unless these options are from 1 to `most`, and the dropout leaves something."""
    for name in names:
        if not 1 <= getattr(shape, name) <= most:
            raise InputError(f"{name} is from 1 to {most:,}, not {getattr(shape, name):,}")
    if not 0 <= shape.dropout <= 0.99:
        raise InputError(f"dropout is from 0 to .99, not {shape.dropout:g}")


@dataclass(frozen=True, slots=True)
class Settings:
    """How long, how and where a generator is trained."""

    minutes: float | None = option(
        None, "Generators: how long to train.", metavar="M", otherwise="10, or the epochs of bart and t5"
    )
    steps: int | None = option(None, "Generators: how many updates of the weights.", metavar="N")
    epochs: float | None = option(None, "Generators: how many times to see each document.", metavar="N")
    batch: int | None = option(None, "Generators: documents of a batch.", metavar="N", otherwise="16, or the model's")
    accumulate: int = option(1, "Generators: batches of an update.", metavar="N")
    precision: str = option("fp32", "Generators: numbers that are computed with.", values=PRECISIONS)
    device: str = option("auto", "Generators: cpu, cuda, cuda:1.", metavar="NAME", otherwise="the best there is")
    seed: int = option(0, "Generators: of weights and order.", least=0, most=MOST_SEED, metavar="N")
    stop: str | None = option(
        None,
        "Generators: stop after N validations without a better loss or metric, as f1@5:present:3.",
        metavar="loss|METRIC:N",
    )
    augment: str | None = option(
        None,
        "Generators: learn also from the title of a document with the text of another, where both share 60 % of their "
        "keyphrases.",
        values=AUGMENTS,
    )
    drop: str | None = option(
        None,
        "Generators: mask present phrases and make them absent ones, each with probability P (default .7), in place of "
        "a document or beside it (KPDrop).",
        metavar="replace|add[:P]",
    )
    guide: str | None = option(
        None,
        "Generators: put phrases that an extractor finds, or those of a run, before each document.",
        metavar="MODEL|RUN",
        complete="models",
    )
    jobs: int = option(1, "Generators: processes.", metavar="N", flags=("-j", "--jobs"))
    resume: bool = option(False, "Generators: go on with a training that was broken off.")
    start: str | None = option(None, "The directory of the trained model to go on from, of tgrf.", command=False)

    def __post_init__(self) -> None:
        told = [name for name in ("minutes", "steps", "epochs") if getattr(self, name) is not None]
        if len(told) > 1:
            raise InputError(f"--{told[0]} and --{told[1]} both say how long: give one of them")
        for name in ("minutes", "steps", "epochs", "batch", "accumulate", "jobs"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"--{name} is more than 0 and finite, not {value:g}")
        if not 0 <= self.seed <= MOST_SEED:
            raise InputError(f"--seed is from 0 to {MOST_SEED:,}, not {self.seed:,}")
        if self.precision not in PRECISIONS:
            raise InputError(f"--precision is {' or '.join(PRECISIONS)}, not {self.precision}")
        if self.augment not in (None, *AUGMENTS):
            raise InputError(f"--augment is {' or '.join(AUGMENTS)}, not {self.augment}")
        self.stopping()

    def stopping(self) -> tuple[str, int] | None:
        """(`loss` or a metric, how many validations without a better value end the training); None without --stop."""
        if self.stop is None:
            return None
        metric, _, patience = self.stop.rpartition(":")
        if self.stop == "loss":
            return "loss", 4
        if not metric or not patience.isdecimal() or int(patience) < 1:
            raise InputError(f"--stop {self.stop}: write loss, loss:4 or METRIC:4, as f1@5:present:4")
        return metric, int(patience)


@dataclass(frozen=True, slots=True)
class Learning:
    """What a model is trained with beside its shape: vocabularies, targets and the rate."""

    read: int = 20_000  # words of the table
    written: int = 9_000  # of these, words of keyphrases
    targets: Literal["one2seq", "one2one"] = "one2seq"
    peos: Peos = "never"  # whether one2seq has a mark of its own between present and absent keyphrases
    longest: int = 400  # tokens of a document
    rate: float = 0.001
    schedule: Literal["linear", "halve", "constant"] = "linear"
    warmup: int = 100  # steps
    clip: float = 1.0

    def __post_init__(self) -> None:
        if self.peos not in get_args(Peos):
            raise InputError(f"peos is {', '.join(get_args(Peos))}, not {self.peos}")
        if self.targets not in ("one2seq", "one2one") or self.schedule not in ("linear", "halve", "constant"):
            raise InputError("targets are one2seq or one2one; a schedule is linear, halve or constant")
        if min(self.read, self.written, self.longest) < 2:
            raise InputError("read, written and longest are 2 or more: a vocabulary of one word says nothing")
        if self.written > self.read:
            raise InputError(f"written words are the head of those that are read: {self.written} of {self.read}")
        if not 0 < self.rate < math.inf or not 0 < self.clip < math.inf or self.warmup < 0:
            raise InputError("rate and clip are more than 0 and finite, warmup is 0 or more")

    def rise(self, step: int) -> float:
        """The share of the rate that a step has while it rises, from 0 to 1."""
        return min(1.0, (step + 1) / max(self.warmup, 1))


@dataclass(frozen=True, slots=True)
class CopyRNNShape:
    """The size of a CopyRNN; `general` attention is quicker than the published, `additive` one."""

    embedding: int = 100
    hidden: int = 150  # each way; the decoder has twice as much
    attention: Literal["additive", "general"] = "additive"
    tied: bool = False  # words are written by the vectors they are read by, which are fewer weights
    dropout: float = 0.1

    def __post_init__(self) -> None:
        _within(self, MOST_SIZE, "embedding", "hidden")


@dataclass(frozen=True, slots=True)
class CorrRNNShape(CopyRNNShape):
    """The size of a CorrRNN: that of a CopyRNN with additive attention, which the coverage is a part of."""

    def __post_init__(self) -> None:
        CopyRNNShape.__post_init__(self)
        if self.attention != "additive":
            raise InputError(
                f"the attention of corrrnn is additive, as its coverage is inside it, not {self.attention}"
            )


@dataclass(frozen=True, slots=True)
class ExHiRDShape:
    """The size of an ExHiRD; with `soft` exclusion it learns to exclude (-s), else only its search does (-h)."""

    embedding: int = 100
    hidden: int = 150  # each way, in two layers; the decoders have twice as much
    exclusion: Literal["hard", "soft"] = "hard"
    window: int = 4  # phrases whose first words a soft exclusion makes less probable
    dropout: float = 0.1

    def __post_init__(self) -> None:
        _within(self, MOST_SIZE, "embedding", "hidden")
        if self.window < 1:
            raise InputError(f"window is 1 or more phrases, not {self.window}")


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """The size of a Transformer; the published one is 512, 6 + 6 layers, 8 heads, 2048."""

    size: int = 128
    layers: int = 2  # of the encoder, and as many of the decoder
    heads: int = 4
    inner: int = 512
    dropout: float = 0.1

    def __post_init__(self) -> None:
        _within(self, MOST_SIZE, "size", "inner")
        _within(self, MOST_LAYERS, "layers")
        if self.heads < 1 or self.size % (2 * self.heads):
            raise InputError(f"size is a multiple of twice the heads, not {self.size} with {self.heads} heads")


@dataclass(frozen=True, slots=True)
class One2SetShape(TransformerShape):
    """The size of a Transformer with parallel slots; published are 20 slots of 6 words."""

    slots: int = 20  # half for present phrases, half for absent ones
    length: int = 6  # words of a phrase

    def __post_init__(self) -> None:
        TransformerShape.__post_init__(self)
        if self.slots < 2 or self.slots % 2 or self.length < 1:
            raise InputError(f"slots are 2, 4 or more, of 1 word or more, not {self.slots} of {self.length}")
        _within(self, MOST_SLOTS, "slots", "length")


@dataclass(frozen=True, slots=True)
class RewardShape:
    """How a trained generator learns by reward; all else is as it was trained before."""

    rate: float = 0.00005
    schedule: Literal["linear", "halve", "constant"] = "constant"
    warmup: int = 0  # steps
    clip: float = 1.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of generator: what its sizes are, where its network is, and what it is in a sentence."""

    name: str
    shape: Any  # a dataclass, whose fields are options
    network: str  # module:class, imported when it is needed, as it needs torch
    summary: str
    peos: Peos = "never"  # what it has to see of which keyphrases are present, where the option `peos` says `never`
    notes: Callable[[Iterable[Document]], list[str]] = lambda _: []  # what is to be said of training or predicting
    one2one: bool = True  # whether it can learn one phrase at a time
    rate: float = 0.001  # where none is given; published are .001 and, of one2set, .0001, for trainings of days
    reward: bool = False  # whether it is another generator that goes on to learn by reward
    learning: Any = Learning  # a dataclass, whose fields are options: how it learns
    material: str = "karat.models.generators.table:TABLE"  # module:object, its words, examples and files
    weights: str = "weights.safetensors"  # the file of its weights
    preset: Mapping[str, Any] = field(default_factory=dict)  # options whose defaults are others
    batch: int = 16  # documents, where none is given
    epochs: float | None = None  # where nothing says how long; else it is `MINUTES`
    plugged: bool = True  # whether it predicts as all others do, with the options of `plugged.py`


def _untitled(documents: Iterable[Document]) -> list[str]:
    if all(each.title for each in documents):
        return []
    return ["tgnet takes the first sentence of a document without a title as its title"]


_SEQ2SEQ: Any = {
    "shape": Seq2SeqShape,
    "network": "karat.models.generators.seq2seq.network:Seq2Seq",
    "learning": Seq2SeqLearning,
    "material": "karat.models.generators.seq2seq.material:MATERIAL",
    "weights": "model.safetensors",
    "rate": 0.0001,
    "one2one": False,
    "plugged": False,
}
_LISTED = (
    Kind(
        "copyrnn",
        CopyRNNShape,
        "karat.models.generators.copyrnn:CopyRNN",
        "Writes keyphrases, present and absent ones: a recurrent network that copies (Meng 2017, Yuan 2020).",
        rate=0.003,
    ),
    Kind(
        "corrrnn",
        CorrRNNShape,
        "karat.models.generators.corrrnn:CorrRNN",
        "A copyrnn that knows what it has looked at and written: coverage and review (Chen 2018).",
        rate=0.003,
    ),
    Kind(
        "tgnet",
        CopyRNNShape,
        "karat.models.generators.tgnet:TGNet",
        "A copyrnn whose encoder reads the title apart and into every token (Chen 2019).",
        notes=_untitled,
        rate=0.003,
    ),
    Kind(
        "tgrf",
        RewardShape,
        "",
        "A trained generator, as tgnet, that goes on to learn by reward: its drawn phrases are scored (Chan 2019).",
        peos="always",
        reward=True,
    ),
    Kind(
        "exhird",
        ExHiRDShape,
        "karat.models.generators.exhird:ExHiRD",
        "Writes keyphrases in two levels, phrases and words, and excludes first words it has used (Chen 2020).",
        peos="between",
        rate=0.003,
    ),
    Kind(
        "transformer",
        TransformerShape,
        "karat.models.generators.transformer:Transformer",
        "Writes keyphrases, present and absent ones: a Transformer that copies (Vaswani 2017, See 2017).",
    ),
    Kind(
        "one2set",
        One2SetShape,
        "karat.models.generators.one2set:One2Set",
        "Writes keyphrases in parallel slots, present and absent ones: a Transformer that copies (Ye 2021).",
        peos="always",
        one2one=False,
    ),
    Kind(
        "seq2seq",
        summary="Writes keyphrases: any pretrained network with an encoder and a decoder, from a directory.",
        **_SEQ2SEQ,
    ),
    Kind(
        "bart",
        summary="A pretrained BART that reads title<s>abstract, with ; between keyphrases (Houbre 2025).",
        preset=BART,
        batch=32,
        epochs=10,
        **_SEQ2SEQ,
    ),
    Kind(
        "t5",
        summary="A pretrained T5 that reads title <sep> abstract and learns by SM3 (Kundu 2023).",
        preset=T5,
        batch=64,
        epochs=10,
        **_SEQ2SEQ,
    ),
    Kind(
        "unikp",
        UniKPShape,
        "karat.models.generators.unikp.unikp:UniKP",
        "Tags present keyphrases and writes absent ones with one encoder of BERT's kind, UniKeyphrase (Wu 2021).",
        rate=0.0001,
        learning=UniKPLearning,
        material="karat.models.generators.unikp.material:UNIKP",
        plugged=False,
    ),
    Kind(
        "tagger",
        TaggerShape,
        "karat.models.generators.unikp.tagger:Tagger",
        "Tags the words of present keyphrases: the encoder of unikp with a layer above it, by itself (Wu 2021).",
        rate=0.0003,
        learning=TaggerLearning,
        material="karat.models.generators.unikp.material:TAGGER",
        plugged=False,
    ),
)
GENERATORS: Registry[Kind] = Registry("generator", lambda kind: kind.network or kind.summary, _LISTED)


def training_options(name: str) -> dict[str, Any]:
    """The options of the training of a generator, and their defaults: its shape, and how it learns."""
    kind = GENERATORS[name]
    if kind.reward:
        return {each.name: each.default for each in fields(kind.shape)}
    defaults = {each.name: each.default for part in (kind.shape, kind.learning) for each in fields(part)}
    return defaults | {"rate": kind.rate, **kind.preset}


def torch_or_error(what: str) -> Any:
    """The module torch; raises MissingExtraError where it is not installed."""
    library("safetensors", what)
    return library("torch", what)

"""Protocols: every convention of a published evaluation script as a named option.

`Matching` says what a phrase is and when two are equal; only align reads it. `Counting` says how matches become
numbers; only the metric kernels read it. A preset is a choice of both, kept as data in `PRESETS`; nothing outside
this module knows a preset by its name. `signature` spells a protocol out, and `parse_protocol` reads it back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from karat.errors import InputError, unknown
from karat.registry import Registry

# The languages of Snowball, as PyStemmer names them.
LANGUAGES = """
    arabic armenian basque catalan czech danish dutch english esperanto estonian finnish french german
    greek hindi hungarian indonesian irish italian lithuanian nepali norwegian persian polish portuguese
    romanian russian serbian sesotho spanish swedish tamil turkish yiddish
""".split()  # noqa: SIM905  a list of words reads best as words


def _option(
    default: str, summary: str, values: dict[str, str], free: str | None = None, metrics: tuple[str, ...] = ()
) -> Any:
    """A field whose allowed values are documented beside it.

    `free` names a further kind of value; `metrics` those that read it, where all others are the same whatever it says.
    """
    return field(default=default, metadata={"summary": summary, "values": values, "free": free, "metrics": metrics})


@dataclass(frozen=True, slots=True)
class Matching:
    """What counts as a phrase, and when a phrase is found. The defaults are karat's own."""

    tokenizer: str = _option(
        "marks",
        "how text and phrases become tokens",
        {
            "marks": "words, hyphenated ones whole, and each punctuation mark: \\w+(?:-\\w+)*|[^\\w\\s]",
            "space": "split at every single space",
            "split": "split at white space",
            "split_nopunc": "split at every character that is not a letter, digit or underscore",
            "nltk": "NLTK's word tokens of each sentence, found before lower-casing (extra ngram)",
            "spacy": "spaCy's English tokens, found before lower-casing; hyphens within words stay",
        },
    )
    stemmer: str = _option(
        "porter",
        "how tokens become stems",
        {"porter": "Porter's algorithm as NLTK's default mode", "none": "no stemming"},
        free="language",
    )
    case: str = _option(
        "lower",
        "where letters are lower-cased",
        {"lower": "everywhere", "stem": "by the stemmer alone: what is not stemmed keeps its case"},
    )
    unicode: str = _option(
        "composed",
        "how characters that Unicode can write in several ways are compared",
        {"composed": "in one way: NFC, without zero-width characters", "as-is": "as they are given"},
    )
    segmentation: str = _option(
        "characters",
        "how Chinese and Japanese, which have no spaces between words, are cut before the tokenizer",
        {
            "characters": "each character is a token",
            "jieba": "into the words of jieba's dictionary, of Chinese (extra chinese)",
            "sudachi": "into the shortest units of Sudachi's dictionary, of Japanese (extra japanese)",
            "none": "they are not: what stands between spaces and marks is one token",
        },
    )
    repair: str = _option(
        "none",
        "pieces of tokens that are put together again",
        {
            "none": "nothing",
            "wordpieces": "` ##` is removed and `[ digit ]` closed up in phrases",
            "digits": "`< digit >` is closed up",
        },
    )
    references: str = _option(
        "stem",
        "whether references are stemmed",
        {
            "stem": "yes",
            "stemmed": "no: they are already",
            "by-name": "no, when the name or the path of the corpus has semeval in it, in any case",
        },
    )
    reference_spaces: str = _option(
        "as-given",
        "several spaces in a row in a reference",
        {"as-given": "stay as they are: the tokenizer decides", "one": "are one space"},
    )
    boundary: str = _option(
        "wall",
        "what stands between title and text",
        {
            "wall": "nothing matches across",
            "cross": "nothing: a phrase may cross",
            "eos": "the token <eos>",
            "dot": "a full stop",
        },
    )
    present: str = _option(
        "tokens",
        "when a phrase is present",
        {
            "tokens": "its stems follow each other in the stemmed document",
            "characters": "its stemmed string is a substring of the stemmed document: `ai` is in `train`",
        },
    )
    variants: str = _option(
        "any",
        "what makes a reference with variants present or absent",
        {
            "any": "it is present when any of them is",
            "each": "each of them by itself: with some of both it is a present and an absent reference",
        },
    )
    kinds: str = _option(
        "text",
        "what makes a prediction present or absent",
        {"text": "the document", "run": "the run's kinds where it has them"},
    )
    separators: str = _option(
        "none",
        "where one given phrase is split into several",
        {
            "none": "nowhere",
            "semicolon": "at ;",
            "slash": "at ; and / and at ExHiRD's markers",
            "sep": "at ; and <sep>; nothing is read after <eos>",
        },
    )
    blank: str = _option(
        "drop",
        "what an empty prediction is",
        {
            "drop": "nothing",
            "keep": "a phrase, and no prediction at all is one empty phrase",
            "inner": "a phrase, unless it is all there is",
            "present": "a present phrase",
        },
    )
    blank_references: str = _option(
        "drop",
        "what an empty reference is",
        {
            "drop": "nothing",
            "absent": "an absent reference; no reference at all is one empty reference",
            "present": "a present reference",
        },
    )
    invalid: str = _option(
        "unreadable",
        "which predictions are dropped",
        {
            "unreadable": "those with <unk>, or without any letter or digit",
            "none": "none",
            "token": "those with a token <unk> or , or . after stemming",
            "unk": "those whose stemmed string contains <unk>",
            "whole": "those that are as a whole , or . or <unk> or <peos>",
            "surface": "those with a token <unk> or , or . before stemming; for split_nopunc the word unk",
            "leading": "those with a token <unk> or <eos>, or one that starts with _ , ( ) . ' or %",
        },
    )
    duplicates: str = _option(
        "drop",
        "predictions with the stems of an earlier one",
        {
            "drop": "dropped",
            "underscore": "dropped, and `a_b` repeats `a b`",
            "hyphen": "dropped, and `a-b` repeats `a b`",
            "surface": "dropped only where they are written alike",
            "keep": "kept",
        },
    )
    reference_duplicates: str = _option(
        "drop",
        "references with the stems of an earlier one",
        {"drop": "dropped", "underscore": "dropped, and `a_b` repeats `a b`", "keep": "kept"},
    )
    hits: str = _option(
        "once",
        "which matches count",
        {
            "once": "a reference is found once, by the first prediction that is one of its variants",
            "each": "every prediction that is a reference",
            "references": "every reference that is among the predictions",
        },
    )
    limit: str = _option("all", "how many predictions are read", {"all": "all"}, free="number")
    one_word: str = _option(
        "all", "predictions of one word", {"all": "all are read", "first": "only the first is read"}
    )


@dataclass(frozen=True, slots=True)
class Counting:
    """How matches become numbers. The defaults are karat's own."""

    pad: str = _option(
        "none",
        "what precision at k is divided by when there are fewer predictions",
        {
            "none": "the predictions there are",
            "k": "k",
            "absent-10": "k of a list filled up to 10: absent has what present ones leave of it, present is not filled",
        },
    )
    empty: str = _option(
        "skip",
        "a document without references of a kind",
        {"skip": "is left out of that kind and counted", "zero": "scores 0"},
    )
    average: str = _option(
        "mean-of-f",
        "F1 of the corpus",
        {"mean-of-f": "the mean of document F1", "f-of-means": "F1 of mean precision and mean recall"},
    )
    micro: str = _option(
        "cut",
        "what a document adds to the predictions of a micro average",
        {
            "cut": "its predictions up to the cutoff",
            "predicted": "k if it has a prediction of the kind, else 0",
            "k": "k always",
            "pad": "what its own precision is divided by, as pad has it",
        },
    )
    ideal: str = _option(
        "references",
        "the ideal list of NDCG",
        {
            "references": "as many hits as there are references, cut at k",
            "uncut": "as many hits as there are references, not cut at k",
            "predictions": "the hits there are, first",
        },
    )
    reciprocal: str = _option(
        "first",
        "the rank of MRR",
        {"first": "of the first hit", "all": "the mean of 1/rank over all hits"},
    )
    preference: str = _option(
        "references",
        "what bpref divides by",
        {
            "references": "by the references: the sum over hits, and the wrong predictions before each",
            "hits": "by the hits: the sum over hits; by k: the wrong predictions before each",
        },
    )
    alpha: str = _option(
        "clarke",
        "relevance and ideal of alpha-NDCG",
        {
            "clarke": "the prediction's stems stand in the reference; ideal: greedy over predictions and references",
            "chan": "its string is a substring of the reference's; ideal: greedy over the predictions",
            "meng": "one stem set holds the other; ideal: every reference gains 1, not cut at k",
        },
    )
    approximate: str = _option(
        "zesch",
        "approximate matching",
        {
            "zesch": "on whole stems; r_precision: the reference in the prediction, each reference once",
            "kpeval": "substring of characters either way; present predictions before absent ones",
        },
    )
    soft_stems: str = _option(
        "once",
        "the stems that soft scores compare",
        {"once": "those that are matched", "twice": "those that are matched, stemmed once more"},
    )
    semantic_match: str = _option(
        "both",
        "where equal stems count 1 in semantic scores, whatever their cosine",
        {"both": "in precision and recall", "precision": "in precision alone"},
    )
    semantic_references: str = _option(
        "matched",
        "the references that semantic scores compare, where some repeat the stems of others",
        {
            "matched": "those that are matched",
            "listed": "as many, but the first of the list with its repeats, equal texts once in recall",
        },
    )
    diversity: str = _option(
        "skip",
        "a document with too few predictions for a measure of diversity",
        {
            "skip": "is left out and counted",
            "score": "none: dup_token_ratio 1 and the others 0; one: emb_sim 1 and the others of pairs 0",
        },
    )
    bleu_tokens: str = _option(
        "stems",
        "what self_bleu takes for the words of a phrase",
        {"stems": "its stems", "nltk": "NLTK's word tokens of its joined stems (extra ngram): `<digit>` is three"},
    )
    diverse_index: str = _option(
        "mean",
        "sem_diverse_index: the root of what over the squared cosines of any two predictions",
        {"mean": "their mean", "sum": "their sum, which grows with the number of predictions"},
    )
    repeats: str = _option(
        "valid",
        "what duplicate_ratio looks at",
        {"valid": "predictions left after the invalid ones are dropped", "all": "all predictions"},
    )
    repeats_average: str = _option(
        "mean", "duplicate_ratio of the corpus", {"mean": "mean over documents", "micro": "over all predictions"}
    )
    repeats_by_kind: str = _option(
        "stems",
        "duplicate_ratio of present and of absent predictions",
        {
            "stems": "as that of all predictions",
            "slots": "of the phrases as they are given, in the slots of the run's kinds or ExHiRD's markers, if any",
        },
    )
    correct: str = _option(
        "hit",
        "when a prediction is correct, in measures of confidence",
        {
            "hit": "when it is a reference",
            "substring": "when its stemmed string is a substring of the joined references of its kind",
        },
        metrics=("ece", "ece_mass", "mce", "brier"),
    )
    ece_total: str = _option(
        "judged",
        "what the expected calibration error is divided by",
        {
            "judged": "the predictions that have a confidence",
            "placeholders": "the predictions that are written differently, and one more for present and for absent "
            "ones where a document has none",
        },
        metrics=("ece", "ece_mass"),
    )
    position: str = _option(
        "stems",
        "what the offset of a phrase in the stemmed document is divided by",
        {
            "stems": "the length of the stemmed document",
            "raw": "the length of the document as it is given, which is longer: few phrases reach the last part",
        },
    )


@dataclass(frozen=True, slots=True)
class Protocol:
    """A named choice of Matching and Counting."""

    name: str
    matching: Matching
    counting: Counting
    summary: str = ""
    script: str = ""
    experimental: bool = False
    also: tuple[str, ...] = ()  # options that the script has flags for, beside its usual ones
    cites: tuple[str, ...] = ()  # the papers it rests on, by their keys in karat.citations

    def options(self) -> dict[str, str]:
        """Every option with its value, matching first."""
        parts = {"matching": self.matching, "counting": self.counting}
        return {name: getattr(parts[part], name) for name, (part, _) in _FIELDS.items()}  # asdict would copy deeply

    def __str__(self) -> str:
        """The name, and the options in which it differs from the preset of that name."""
        return _text_of(self)

    def signature(self, **facts: str) -> str:
        """The protocol spelled out, every option by name, and facts about the data behind it.

        >>> parse_protocol("chan2019,pad=none").signature(set="author").split(",")[:3]
        ['chan2019', 'tokenizer=space', 'stemmer=porter']
        """
        everything = self.options() | facts
        return ",".join([self.name, *(f"{name}={value}" for name, value in everything.items())])


@lru_cache(maxsize=1024)
def _text_of(protocol: Protocol) -> str:
    preset = PRESETS[protocol.name].options()
    changed = [f"{name}={value}" for name, value in protocol.options().items() if value != preset[name]]
    return ",".join([protocol.name, *changed])


# What a signature says of the data and of the program, beside options.
FACTS = ("set", "hash", "extra", "vocabulary", "karat")


def option_fields() -> dict[str, tuple[str, Any]]:
    """Each option's part ("matching" or "counting") and its field."""
    return {f.name: (part.__name__.lower(), f) for part in (Matching, Counting) for f in fields(part)}


_FIELDS = option_fields()


def change(protocol: Protocol, **options: str) -> Protocol:
    """The same protocol with some options changed; an unknown name or value is an error."""
    parts: dict[str, dict[str, str]] = {"matching": {}, "counting": {}}
    for name, value in options.items():
        if name not in _FIELDS:
            raise unknown("protocol option", name, _FIELDS)
        part, option = _FIELDS[name]
        _check(option, value)
        parts[part][name] = value
    return replace(
        protocol,
        matching=replace(protocol.matching, **parts["matching"]),
        counting=replace(protocol.counting, **parts["counting"]),
    )


MOST = 1_000_000


def whole_number(text: str) -> int | None:
    """The number from 1 to a million that a text is, or None."""
    plain = text.isascii() and text.isdigit() and len(text) <= len(str(MOST))
    return int(text) if plain and 1 <= int(text) <= MOST else None


def _check(option: Any, value: str) -> None:
    values, free = option.metadata["values"], option.metadata["free"]
    if value in values:
        return
    if free == "number":
        if whole_number(value) is None:
            raise InputError(f"option {option.name} is `all` or a whole number from 1 to {MOST:,}, not {value!r}")
        return
    if free == "language":
        if value not in LANGUAGES:
            raise unknown("stemmer", value, [*values, *LANGUAGES])
        return
    raise unknown(f"value of option {option.name}", value, values)


def parse_protocol(text: str) -> Protocol:
    """The protocol of `NAME`, `NAME,option=value...` or a signature (whose facts about data are passed over).

    >>> str(parse_protocol("kpdrop2022,pad=k"))
    'kpdrop2022,pad=k'
    """
    name, *settings = text.split(",")
    if name not in PRESETS:
        raise unknown("protocol", name, PRESETS)
    options: dict[str, str] = {}
    for setting in settings:
        option, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"in --protocol {text}: {setting!r} is not option=value")
        if option not in FACTS:
            options[option] = value
    return change(PRESETS[name], **options)


def signature_facts(text: str) -> dict[str, str]:
    """What a signature says of the data: the reference set, the hash of the references, karat's version."""
    pairs = (setting.partition("=") for setting in text.split(",")[1:])
    return {name: value for name, _, value in pairs if name in FACTS}


KARAT = Protocol("karat", Matching(), Counting(), "karat's own, the default")


def _preset(name: str, summary: str, script: str, base: Protocol = KARAT, **options: Any) -> Protocol:
    extra = {"experimental": options.pop("experimental", False), "also": options.pop("also", ())}
    extra["cites"] = (*options.pop("cites", ()), *base.cites)
    options = {"unicode": "as-is", "segmentation": "none"} | options  # no script looks at Unicode or other scripts
    return replace(change(base, **options), name=name, summary=summary, script=script, **extra)


# Chan 2019. Repeats found by joining stems with `_`; an empty line is one empty phrase; a document enters the micro
# precision only if it predicts something; NDCG's ideal is made of the system's own hits.
_CHAN = _preset(
    "chan2019",
    "Chan et al. 2019, One2Seq with reinforcement learning",
    "kenchan0226/keyphrase-generation-rl evaluate_prediction.py -disable_extra_one_word_filter -invalidate_unk",
    cites=("chan2019rewards",),
    tokenizer="space",
    case="stem",
    boundary="cross",
    separators="semicolon",
    blank="keep",
    blank_references="absent",
    invalid="token",
    duplicates="underscore",
    reference_duplicates="underscore",
    hits="each",
    limit="200",
    pad="k",
    empty="zero",
    average="f-of-means",
    micro="predicted",
    ideal="predictions",
    reciprocal="first",
    alpha="chan",
    approximate="kpeval",
    repeats="all",
    repeats_average="micro",
)

# KPDrop 2022. Present is a substring of characters; validity looks at the whole phrase only.
_KPDROP = _preset(
    "kpdrop2022",
    "Ray Chowdhury et al. 2022, KPDrop",
    "JRC1995/KPDrop utils/evaluation_utils.py, controllers/metric_controller.py",
    cites=("raychowdhury2022kpdrop",),
    tokenizer="space",
    repair="digits",
    references="by-name",
    reference_spaces="one",
    boundary="cross",
    present="characters",
    separators="sep",
    invalid="whole",
    hits="each",
    empty="zero",
    average="f-of-means",
    also=("pad=k",),
)

_LISTED = (
    KARAT,
    _CHAN,
    _preset(
        "ye2021",
        "Ye et al. 2021, One2Set: Chan's script, where an empty line is no prediction",
        "jiacheng-ye/kg_one2set evaluate_prediction.py -disable_extra_one_word_filter -invalidate_unk",
        cites=("ye2021one2set",),
        base=_CHAN,
        blank="inner",
    ),
    # A document enters the micro precision with k even if it predicts nothing; a slash ends a phrase.
    _preset(
        "chen2020",
        "Chen et al. 2020, ExHiRD",
        "Chen-Wang-CUHK/ExHiRD-DKG evaluation_utils.py, word_match, filter_dot_comma_unk",
        cites=("chen2020exclusive",),
        tokenizer="split",
        case="stem",
        references="by-name",
        boundary="eos",
        separators="slash",
        invalid="unk",
        hits="each",
        pad="k",
        empty="zero",
        average="f-of-means",
        micro="k",
        ideal="predictions",
        alpha="chan",
        approximate="kpeval",
        repeats_by_kind="slots",
    ),
    _KPDROP,
    # References are never deduplicated; MRR averages over all hits; alpha-NDCG's ideal is not cut at k.
    _preset(
        "meng2021",
        "Meng et al. 2021, an empirical study",
        "memray/OpenNMT-kpg-release kp_evaluate.py (tokenizer=split_nopunc or split)",
        cites=("meng2021empirical",),
        tokenizer="split_nopunc",
        boundary="dot",
        blank_references="present",
        invalid="surface",
        duplicates="underscore",
        reference_duplicates="keep",
        hits="each",
        empty="zero",
        ideal="uncut",
        reciprocal="all",
        alpha="meng",
        approximate="kpeval",
        also=("tokenizer=split", "pad=k"),
    ),
    # The flag of KPEval's filter is inverted, so invalid predictions stay.
    _preset(
        "kpeval2024",
        "Wu et al. 2024, KPEval",
        "uclanlp/KPEval exact_matching_metric.py, approx_matching_metric.py",
        cites=("wu2024kpeval",),
        base=_CHAN,
        case="lower",
        repair="wordpieces",
        invalid="none",
        limit="all",
        semantic_match="precision",
        semantic_references="listed",
        diversity="score",
        bleu_tokens="nltk",
        diverse_index="sum",
    ),
    # The document's stems are searched for the stemmed phrase as a string; KMR stems what was stemmed before.
    _preset(
        "kundu2023",
        "Kundu et al. 2023, an analysis of neural keyphrase generation: SoftKeyScore with KMR",
        "the authors' analysis code",
        cites=("kundu2023analysis",),
        tokenizer="split",
        boundary="eos",
        present="characters",
        invalid="none",
        reference_duplicates="keep",
        hits="each",
        empty="zero",
        soft_stems="twice",
    ),
    # KPDrop's script with @O and micro averages; its padded lists are padded in the micro averages too.
    _preset(
        "thomas2024",
        "Thomas and Vajjala 2024, the reproducibility study: KPDrop's script with @O and micro averages",
        "edwinthomas444/keyphrase-generation-reproducibility-study KPDrop/utils/evaluation_utils.py",
        cites=("thomas2024lessons",),
        base=_KPDROP,
        micro="pad",
        also=("pad=k",),
    ),
    # Every list is filled up to ten with a phrase that is in no text, before the split by kind.
    _preset(
        "houbre2025",
        "Houbre et al. 2025, self-compositional data augmentation: absent lists padded to 10",
        "MHoubre/Self_Compo_DA_4KPG src/evaluation.py",
        cites=("houbre2025composition",),
        tokenizer="nltk",
        invalid="none",
        pad="absent-10",
        hits="each",
    ),
    _preset(
        "houbre2026",
        "Houbre et al. 2026, the homogeneity paper: classes of references (PRMU) on spaCy's tokens",
        "the tokens of MHoubre/Self_Compo_DA_4KPG src/prmu.py",
        cites=("houbre2026homogeneity",),
        tokenizer="spacy",
        invalid="none",
        reference_duplicates="keep",
    ),
    _preset(
        "gallina2020",
        "Gallina et al. 2020, the ake-datasets convention: references are lists of variants",
        "ygorg/JCDL_2020_KPE_Eval evaluation/eval.py",
        cites=("gallina2020evaluation",),
        tokenizer="nltk",
        boundary="dot",
        present="characters",
        variants="each",
        blank="present",
        blank_references="present",
        invalid="none",
        duplicates="keep",
        reference_duplicates="keep",
        hits="references",
        empty="zero",
    ),
    # What the script prints as "Micro" is the mean over documents, and the other way round.
    _preset(
        "meng2017",
        "Meng et al. 2017, CopyRNN: only the first prediction of one word counts",
        "memray/seq2seq-keyphrase keyphrase/keyphrase_utils.py",
        cites=("meng2017deep",),
        tokenizer="space",
        boundary="cross",
        invalid="leading",
        one_word="first",
        duplicates="hyphen",
        reference_duplicates="keep",
        hits="each",
        pad="k",
        empty="zero",
        micro="k",
        preference="hits",
    ),
)
PRESETS: Registry[Protocol] = Registry("protocol", lambda preset: preset.script or preset.summary, _LISTED)


def published() -> list[Protocol]:
    """Every preset, and after each the same with an option that its script has a flag for."""
    return [
        parse_protocol(",".join((name, *option)))
        for name, preset in PRESETS.items()
        for option in ((), *((also,) for also in preset.also))
    ]

"""What people are asked: the tasks, their scales and the words of their instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from karat.stats.agreement import Scale as Level

TaskName = Literal["set", "pair", "phrase", "reference"]
ScaleName = Literal["0-4", "0-1"]


@dataclass(frozen=True, slots=True)
class Step:
    """An answer that can be given: its value, its key on the keyboard, what stands on its button and what it means."""

    value: float
    key: str
    label: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """The answers of a task, the lowest first, and how far two of them are apart: the level of Krippendorff's alpha."""

    level: Level
    steps: tuple[Step, ...]

    @property
    def width(self) -> float:
        """From the lowest to the highest value."""
        return self.steps[-1].value - self.steps[0].value

    def has(self, value: float) -> bool:
        """Whether a value is one of the answers."""
        return any(step.value == value for step in self.steps)


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every item, and how to go about it."""

    title: str
    question: str
    instructions: tuple[str, ...]


def _five(*meanings: str) -> Scale:
    return Scale("ordinal", tuple(Step(n, str(n), str(n), meaning) for n, meaning in enumerate(meanings)))


def _tenths(lowest: str, middle: str, highest: str) -> Scale:
    meanings = {0: lowest, 5: middle, 10: highest}
    labels = ["0", *(f".{n}" for n in range(1, 10)), "1"]
    keys = [*map(str, range(10)), "x"]
    steps = (Step(n / 10, keys[n], labels[n], meanings.get(n, "")) for n in range(11))
    return Scale("interval", tuple(steps))


_RELEVANT = Scale("nominal", (Step(0, "n", "Not relevant"), Step(1, "y", "Relevant")))

# By task and name; the first scale of a task is its default.
SCALES: Mapping[TaskName, Mapping[str, Scale]] = {
    "set": {
        "0-1": _tenths("nothing in common", "half of it", "says the same"),
        "0-4": _five(
            "nothing in common",
            "little in common",
            "half of it",
            "most of it",
            "says the same",
        ),
    },
    "pair": {
        "0-4": _five(
            "no meaning in common",
            "little in common",
            "related",
            "nearly the same",
            "the same meaning",
        ),
        "0-1": _tenths("different things", "related", "the same thing"),
    },
    "phrase": {"relevant": _RELEVANT},
    "reference": {"chosen": _RELEVANT},
}

TASKS: Mapping[TaskName, Task] = {
    "set": Task(
        "Sets of keyphrases",
        "How close are the keyphrases to the reference?",
        (
            "Read the title and the text as far as you need to. Then compare the keyphrases with the reference, list "
            "with list: does the one tell a reader what the other tells?",
            "Wording does not count, meaning does. A keyphrase that says the same in other words is as good; one that "
            "is missing, or that says something else, makes the list worse. The order of a list does not count.",
        ),
    ),
    "pair": Task(
        "Pairs of phrases",
        "How much do the two phrases mean the same?",
        (
            "Compare what the two phrases mean as keyphrases of this document. The document is below them.",
            "The lowest answer is for phrases that share no meaning, even if they share a word; the highest for "
            "phrases that you could exchange without anybody noticing.",
        ),
    ),
    "phrase": Task(
        "Keyphrases",
        "Is this a keyphrase of the document?",
        (
            "Read the title and the text. A phrase is relevant if you would give it to the document as a keyphrase: "
            "it names what the document is about, not merely something that the document mentions.",
            "It need not occur in the text. A phrase that is cut off, or so general that it says nothing about this "
            "document, is not relevant.",
        ),
    ),
    "reference": Task(
        "Keyphrases of documents",
        "Which are the keyphrases of this document?",
        (
            "Read the title and the text. Choose the phrases of the list that are keyphrases of the document, and add "
            "those that you miss, as they stand in the text if they do.",
            "Choose what names the topics of the document best; about five to fifteen phrases are usual, none of them "
            "twice in other words. Press Done when the document is finished.",
        ),
    ),
}


def scale_of(task: TaskName, name: str) -> Scale:
    """The scale of a task by name."""
    return SCALES[task][name]


def default_scale(task: TaskName) -> str:
    """The name of the scale that a task has unless another one is chosen."""
    return next(iter(SCALES[task]))

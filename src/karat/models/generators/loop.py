"""The training of a generator: one loop, from a corpus to a directory that `karat predict` takes.

Everything that is random in a step follows from the seed and the number of the step, and so does the order of the
documents: a training that goes on from a saved state does what an unbroken one does, to the last bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.errors import InputError
from karat.formats.load import Count, converted
from karat.formats.output import claimed, working_folder, write_beside
from karat.metrics.base import METRICS, parse_request
from karat.models.generators import checkpoint
from karat.models.generators.base import Batch
from karat.models.generators.checkpoint import EXAMPLES, LOG, PLACE, STATE, VALID_EXAMPLES, WEIGHTS, Card, Loaded
from karat.models.generators.dropping import Drop
from karat.models.generators.examples import Change, Examples
from karat.models.generators.material import material_of
from karat.models.generators.memory import kept_memory
from karat.models.generators.prepare import VALIDATED, Task, prepare
from karat.models.generators.rewarding import Forms, Reward
from karat.models.generators.settings import GENERATORS, MINUTES, Settings, checked
from karat.models.generators.validation import loss_on, reward_on, score_on
from karat.models.generators.workers import World

VALIDATIONS = 10  # in a training
MOST_BETWEEN = 4000  # steps between two validations
NOTHING = 1e9  # how bad it is where a metric says nothing
SAVED = 60.0  # seconds between two states
TIMED = 20  # steps that are timed to see how many fit into the minutes


@dataclass(frozen=True, slots=True)
class Told:
    """How far the training is."""

    step: int
    steps: int
    loss: float  # of the step
    rate: float  # documents a second
    left: float  # seconds
    valid: float | None = None  # the validation loss, when there is a new one


Tell = Callable[[Told], None]
Rows = tuple[int, NDArray[np.int64]]  # an epoch, and examples of it


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a training."""

    card: Card
    log: tuple[dict[str, Any], ...]  # a line for each validation
    notes: tuple[str, ...]


@dataclass(slots=True)
class Progress:
    """What a state holds beside tensors."""

    step: Count = 0
    documents: Count = 0
    halvings: Count = 0
    bad: Count = 0  # validations since the best one
    best: float | None = None
    stopped: bool = False
    total: float = 0.0  # loss since the last validation
    tokens: Count = 0
    pieces: Count = 1  # that a batch is cut into, as it does not fit into memory whole
    log: list[dict[str, Any]] = field(default_factory=list)

    def notes(self) -> Iterator[str]:
        """What a reader should know of the training."""
        if self.pieces > 1:
            yield f"batches did not fit into memory and were cut into {self.pieces} pieces; the weights are the same"
        if self.stopped:
            yield f"stopped at step {self.step:,}: no better validation in the last {self.bad} times"


def train_generator(
    task: Task, output: str | Path, tell: Tell | None = None, progress: Callable[[int], object] | None = None
) -> Finished:
    """Trains a generator into a directory; with `settings.resume`, goes on where an earlier training was."""
    _check(task)
    folder, jobs = Path(output), task.settings.jobs
    with claimed(folder):
        notes = prepare(task, folder, progress)
        training = Training(folder, task, tell, World(0, jobs))
        notes += training.model.notes(training.examples)
        if jobs > 1:
            from karat.models.generators.workers import on_processes

            on_processes(jobs, _work, (folder, task), tell)
            told = msgspec.convert(checkpoint.read_tensors(folder / STATE)[1], Progress)
            finished = Finished(checkpoint.read_card(folder), tuple(told.log), tuple(told.notes()))
        else:
            training.plan()
            finished = training.run()
    return Finished(finished.card, finished.log, (*notes, *finished.notes))


def _check(task: Task) -> None:
    """Raises InputError where a training cannot be as it is asked for, before anything is written."""
    checkpoint.parted(task.model, task.options)
    _device(task.settings.device)
    material_of(task.model).check(task)
    stopping = task.settings.stopping()
    if stopping is None:
        return
    if task.valid is None:
        raise InputError("--stop looks at validation documents: name some with --valid")
    if stopping[0] != "loss" and METRICS[parse_request(stopping[0]).metric].better is None:
        raise InputError(f"--stop {stopping[0]}: neither more nor less of it is better; name another metric, as f1@5")


def _work(world: World, folder: Path, task: Task, tell: Tell | None) -> None:
    """The training as one of several processes does it."""
    training = Training(folder, task, tell, world)
    training.plan()
    training.run()


class Training:
    """A training in its directory; `run` is the loop."""

    def __init__(self, folder: Path, task: Task, tell: Tell | None, world: World) -> None:
        self.folder, self.task, self.tell, self.world = folder, task, tell, world
        self.card = checkpoint.read_card(folder)
        self.settings = checked(Settings, self.card.settings)
        _, self.learning = checkpoint.parted(self.card.model, self.card.options)
        self.material = material_of(self.card.model)
        if not world.rank:
            self._check_files()
        self.words = self.material.read_words(folder)
        self.device = _device(self.settings.device, world.rank)
        self.examples = self.material.examples(folder / EXAMPLES, self.words, self.card)
        there = self.card.valid is not None
        self.checked = self.material.examples(folder / VALID_EXAMPLES, self.words, self.card) if there else None
        learns_by_reward = GENERATORS[self.card.model].reward
        self.reward = Reward(Forms(self.words, self.card.language)) if learns_by_reward else None
        self.drop = None if self.settings.drop is None else Drop.of(self.settings.drop)
        stopping = self.settings.stopping()
        self.guide = task.guide() if stopping is not None and stopping[0] != "loss" else None
        self.batch = self.settings.batch or GENERATORS[self.card.model].batch  # documents of a process
        self.size = self.batch * self.world.size  # documents of a batch, on all processes
        self.many = len(self.examples.batches(self.size, 0, 0))  # batches of an epoch
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])
        self._begin()

    def _check_files(self) -> None:
        """Compare the files with their checksums; those of an earlier version of karat get some."""
        checkpoint.check_files(self.folder, self.card, training=True)
        if not self.card.files:
            names = self.material.files | {*checkpoint.OF_TRAINING}
            self.card = checkpoint.with_checksums(self.card, self.folder, names)

    def _begin(self) -> None:
        """The model and its optimiser as they are before the first step."""
        torch.manual_seed(self.settings.seed)
        self.place = Progress()
        self.model = self.material.network(self.folder, self.card, self.words).to(self.device)
        if self.settings.start is not None:
            path = Path(self.settings.start) / WEIGHTS
            checkpoint.fill(self.model, checkpoint.read_tensors(path)[0], path)
        self.optimiser = self.model.optimiser(self.learning)

    def run(self) -> Finished:
        """Trains to the end, from the last state on; gives what came of it."""
        if (self.folder / STATE).is_file():
            self.place = self._place(checkpoint.read_state(self.folder, self.model, self.optimiser))
            if not self.world.rank:
                self._write_progress()  # a kill may have come before it was written
        steps, place = self.card.steps, self.place
        every = min(math.ceil(steps / VALIDATIONS), MOST_BETWEEN)
        begun = saved = time.monotonic()
        first = place.step
        with kept_memory():
            while place.step < steps and not place.stopped:
                loss, tokens = self._step(place.step)
                place.step += 1
                place.total, place.tokens = place.total + loss, place.tokens + tokens
                valid = None
                if place.step % every == 0 or place.step == steps:
                    valid = self._validate()
                    self._keep()
                    saved = time.monotonic()
                elif time.monotonic() - saved > SAVED:
                    self._save()
                    saved = time.monotonic()
                self._say(loss / tokens, valid, place.step - first, time.monotonic() - begun)
        return Finished(self.card, tuple(place.log), tuple(place.notes()))

    def _place(self, told: dict[str, Any]) -> Progress:
        """Where a state is; raises InputError where it does not say so."""
        found = converted(told, Progress, str(self.folder / STATE), "does not say how far it is")
        if found.pieces < 1:
            raise InputError(f"{self.folder / STATE}: does not say how far it is")
        return found

    # ------------------------------------------------------------------------------------------ a step

    def _step(self, step: int) -> tuple[float, int]:
        """One update of the weights; gives (summed loss, words). What does not fit into memory is cut into halves."""
        numbers = range(step * self.settings.accumulate, (step + 1) * self.settings.accumulate)
        rows = [(number // self.many, self._rows(number)) for number in numbers]
        while True:
            try:
                total, tokens = self._gradients(step, rows)
                break
            except RuntimeError as error:
                if not _is_out_of_memory(error) or self.place.pieces >= self.batch:
                    raise
                self.place.pieces *= 2
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= tokens
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.learning.clip)
        if not math.isfinite(total) or not math.isfinite(norm):
            what = "gradient" if math.isfinite(total) else "loss"
            raise InputError(f"the {what} of step {step + 1:,} is not a number{self._who(rows)}; {self._kept()}")
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate(step)
        self.optimiser.step()
        self.place.documents += sum(len(self._batch(number)) for number in numbers)
        return total, tokens

    def _gradients(self, step: int, rows: list[Rows]) -> tuple[float, int]:
        """(summed loss, words) of these examples, on all processes; the gradients are those of the sum."""
        torch.manual_seed((self.settings.seed * 1_000_003 + step) * 64 + self.world.rank)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=False)
        total, tokens = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        for batch in self._pieces(rows):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bf16"):
                loss, shown, count = self._loss(batch, step)
            loss.backward()
            total, tokens = total + shown, tokens + count
        total, tokens = self.world.add_up(self.model, total, tokens)
        return float(total), int(tokens)

    def _loss(self, batch: Batch, step: int) -> tuple[Tensor, Tensor | float, Tensor | int]:
        """(what is made smaller, what is shown as the loss, how many words or documents it is the sum of)."""
        if self.reward is None:
            loss, count = self.model.loss(batch)
            return loss, loss.detach(), count
        many = len(batch.source)
        loss, reward = self.reward.loss(self.model, batch, self.settings.seed * 1_000_003 + step)
        return loss, many - reward, many

    def _valid(self) -> float | None:
        """The loss on the validation documents; of what learns by reward, what is missing from a reward of 1."""
        if self.checked is None:
            return None
        if self.reward is None:
            return loss_on(self.model, self.checked, self._examples)
        return 1 - reward_on(self.reward, self.model, self.checked, self.device)

    def _rate(self, step: int) -> float:
        """The rate of a step: it rises, then falls in a line to the last step, by halves, or not at all."""
        found: float = self.learning.rate * self.learning.rise(step)
        if self.learning.schedule == "linear":
            return found * (1 - step / self.card.steps)
        return found * 0.5**self.place.halvings

    def _batch(self, number: int) -> NDArray[np.int64]:
        """The examples of a batch, counted from the beginning of the training; the last of an epoch may be smaller."""
        epoch, at = divmod(number, self.many)
        if self._epoch[0] != epoch:
            self._epoch = epoch, self.examples.batches(self.size, self.settings.seed, epoch)
        return self._epoch[1][at]

    def _rows(self, number: int) -> NDArray[np.int64]:
        """The examples of a batch that this process has."""
        return self._batch(number)[self.world.rank :: self.world.size]

    def _examples(self, examples: Examples, rows: NDArray[np.int64], change: Change | None = None) -> Batch:
        """Some examples on the device of the model."""
        found: Batch = self.material.batch(examples, rows, self.words, self.device, change)
        return found

    def _pieces(self, batches: list[Rows]) -> Iterator[Batch]:
        for epoch, rows in batches:
            change = (
                None if self.drop is None else partial(self.drop.apply, self.words.written, self.settings.seed, epoch)
            )
            for some in np.array_split(rows, min(self.place.pieces, max(len(rows), 1))):
                if len(some):
                    yield self._examples(self.examples, some, change)

    def _kept(self) -> str:
        """What is left of a training that cannot go on, and what to do."""
        there = "the last state is kept" if (self.folder / STATE).is_file() else "nothing was saved yet"
        return f"{there}; train into another directory with a smaller rate than {self.learning.rate:g}"

    def _who(self, batches: list[Rows]) -> str:
        """The documents of some batches, in brackets."""
        places = {int(self.examples.index[row, 4]) for _, rows in batches for row in rows}
        named = [str(document.id) for at, document in enumerate(self.task.corpus) if at in places]
        return f" (documents {', '.join(named[:8])}{' and others' if len(named) > 8 else ''})"

    # ------------------------------------------------------------------------------------------ between steps

    def _validate(self) -> float | None:
        """Notes how good the model is, and whether it is to stop; all processes come to the same end.

        Gives the validation loss, None where there are no validation documents.
        """
        place, stopping = self.place, self.settings.stopping()
        loss = self._valid()
        if loss is not None and not math.isfinite(loss):
            raise InputError(f"the validation loss at step {place.step:,} is not a number; {self._kept()}")
        line: dict[str, Any] = {
            "step": place.step,
            "documents": place.documents,
            "loss": round(place.total / place.tokens, 5),
        }
        line |= {"valid": None if loss is None else round(loss, 5), "rate": self._rate(place.step - 1)}
        worse = loss  # the smaller, the better
        if stopping is not None and stopping[0] != "loss":
            line[stopping[0]], worse = self._score(stopping[0])
        place.log.append(line)
        place.total, place.tokens = 0.0, 0
        if worse is None or place.best is None or worse < place.best:
            place.best, place.bad = worse, 0
        else:
            place.bad += 1
            place.halvings += self.learning.schedule == "halve"
            place.stopped = stopping is not None and place.bad >= stopping[1]
        return loss

    def _score(self, metric: str) -> tuple[float | None, float]:
        """(what a metric says of the validation documents, the same as a number of which less is better)."""
        assert self.task.valid is not None
        documents = list(islice(self.task.valid, VALIDATED))
        found = score_on(Loaded(self.card, self.words, self.model), documents, metric, self.guide)
        if found is None:
            return None, NOTHING
        return found, found if METRICS[parse_request(metric).metric].better == "lower" else -found

    def _keep(self) -> None:
        """Writes the weights where they are the best so far, and the state."""
        if self.world.rank:
            return
        if not self.place.bad:
            card = msgspec.structs.replace(
                self.card,
                step=self.place.step,
                documents=self.place.documents,
                loss=self.place.log[-1]["valid"],
                parameters=sum(each.numel() for each in self.model.parameters()),
            )
            with working_folder(self.folder / "new") as new:
                self.material.save(new, self.model)
                self.card = checkpoint.replace_files(self.folder, card, new)
        self._save()

    def _save(self) -> None:
        """Write all that is needed to resume."""
        if self.world.rank:
            return
        checkpoint.write_state(self.folder, self.model, self.optimiser, asdict(self.place))
        self._write_progress()

    def _write_progress(self) -> None:
        """Write the progress of the training and the log of its validations as text."""
        told = asdict(self.place)
        epoch, at = divmod(self.place.step * self.settings.accumulate, self.many)
        random = "drawn anew in each step from the seed and the number of the step"
        said = {**{key: value for key, value in told.items() if key != "log"}, "epoch": epoch, "batch": at}
        place = msgspec.json.encode({**said, "random": random})
        write_beside(self.folder / PLACE, msgspec.json.format(place, indent=1) + b"\n")
        if self.place.log:
            write_beside(self.folder / LOG, b"".join(msgspec.json.encode(each) + b"\n" for each in self.place.log))

    def _say(self, loss: float, valid: float | None, done: int, seconds: float) -> None:
        if self.tell is not None and self.world.rank == 0:
            documents = done * self.size * self.settings.accumulate / max(seconds, 1e-9)
            left = (self.card.steps - self.place.step) * seconds / done
            self.tell(Told(self.place.step, self.card.steps, loss, documents, left, valid))

    # ------------------------------------------------------------------------------------------ how many steps

    def plan(self) -> None:
        """Fixes how many steps the training has, in its card; `--minutes` times some steps, which are thrown away.

        Several processes time them together, since each is slower beside the others.
        """
        wanted = self.task.settings
        if self.card.steps:
            return
        if wanted.steps is not None:
            steps = wanted.steps
        elif (epochs := wanted.epochs or (None if wanted.minutes else GENERATORS[self.card.model].epochs)) is not None:
            steps = math.ceil(epochs * self.many / self.settings.accumulate)
        else:
            with kept_memory():
                steps = self._steps_in(60 * (wanted.minutes or MINUTES))
        self.card = msgspec.structs.replace(self.card, steps=steps)
        if not self.world.rank:
            checkpoint.write_card(self.folder, self.card)

    def _steps_in(self, seconds: float) -> int:
        """About how many steps fit into this time, of which validations take their part."""
        self.card = msgspec.structs.replace(self.card, steps=1_000_000)
        budget = min(seconds / 10, 30.0)
        for _ in range(2):
            self._step(0)  # what is slow only once
        begun, done, spent = time.monotonic(), 0, 0.0
        while done < TIMED and (done < 2 or spent < budget):
            self._step(done)
            done, spent = done + 1, self.world.mean(time.monotonic() - begun)
        begun = time.monotonic()
        self._valid()
        each, valid = spent / done, self.world.mean(time.monotonic() - begun)
        self._begin()
        return steps_within(seconds, each, valid)


def steps_within(seconds: float, each: float, valid: float) -> int:
    """How many steps fit into a time, of which the validations take their part: ten, or one behind each of fewer steps.

    >>> steps_within(600, 0.5, 4), steps_within(18, 0.5, 4), steps_within(1, 0.5, 4)
    (1120, 4, 1)
    """
    steps = int((seconds - VALIDATIONS * valid) / each)
    return steps if steps >= VALIDATIONS else max(1, min(VALIDATIONS, int(seconds / (each + valid))))


def _is_out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


def _device(name: str, rank: int = 0) -> torch.device:
    """The device of a process: `auto` and `cuda` are a GPU of its own for each, where there are any."""
    if name == "auto" and not torch.cuda.is_available():
        return torch.device("cpu")
    with suppress(RuntimeError, AssertionError):
        found = torch.device("cuda" if name == "auto" else name)
        if found.type == "cuda" and found.index is None:
            found = torch.device("cuda", rank % max(torch.cuda.device_count(), 1))
        torch.zeros(1, device=found).item()
        return found
    raise InputError(f"--device {name}: there is no such device here")

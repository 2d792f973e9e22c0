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
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from karat.corpus import Corpus, Document
from karat.errors import InputError
from karat.formats.output import LOCK, NEW, claimed, write_beside, writing_errors
from karat.generators import checkpoint
from karat.generators.base import Batch, Generator
from karat.generators.checkpoint import EXAMPLES, LOG, PLACE, STATE, WEIGHTS, WORDS, Card
from karat.generators.examples import Counts, Examples, content_of, write_examples
from karat.generators.memory import kept_memory
from karat.generators.settings import MINUTES, Settings
from karat.generators.words import Words, count_words
from karat.generators.workers import World

VALIDATED = 512  # documents of the validation corpus that are looked at
VALIDATIONS = 10  # in a training
MOST_BETWEEN = 4000  # steps between two validations
SAVED = 60.0  # seconds between two states
TIMED = 20  # steps that are timed to see how many fit into the minutes
VALID_EXAMPLES = "valid.i32"
_OWN = frozenset((checkpoint.MODEL, WORDS, WEIGHTS, LOG, STATE, PLACE, EXAMPLES, VALID_EXAMPLES))


@dataclass(frozen=True, slots=True)
class Told:
    """How far the training is."""

    step: int
    steps: int
    loss: float  # of the step
    rate: float  # documents a second
    left: float  # seconds
    valid: float | None = None  # the validation loss, when there is a new one


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a training."""

    card: Card
    log: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Progress:
    """What a state holds beside tensors."""

    step: int = 0
    documents: int = 0
    halvings: int = 0
    bad: int = 0  # validations since the best one
    best: float | None = None
    stopped: bool = False
    total: float = 0.0  # loss since the last validation
    tokens: int = 0
    pieces: int = 1  # that a batch is cut into, as it does not fit into memory whole
    log: list[dict[str, Any]] = field(default_factory=list)


Tell = Callable[[Told], None]


def train_generator(
    corpus: Corpus,
    name: str,
    output: str | Path,
    *,
    language: str,
    options: dict[str, Any],
    settings: Settings,
    valid: Corpus | None = None,
    tell: Tell | None = None,
    progress: Callable[[int], object] | None = None,
) -> Finished:
    """Trains a generator into a directory; with `settings.resume`, goes on where an earlier training was."""
    checkpoint.parted(name, options)
    if settings.stop is not None and valid is None:
        raise InputError("--stop looks at validation documents: name some with --valid")
    folder = Path(output)
    with claimed(folder):
        prepared = _prepare(corpus, name, folder, language, options, settings, valid, progress)
        training = Training(folder, corpus, valid, tell, World(0, settings.jobs))
        training.plan(settings)
        if settings.jobs > 1:
            from karat.generators.workers import on_processes

            on_processes(settings.jobs, _work, (folder, corpus, valid), tell)
            finished = _finished(folder)
        else:
            finished = training.run()
    return Finished(finished.card, finished.log, (*prepared, *finished.notes))


def _work(world: World, folder: Path, corpus: Corpus, valid: Corpus | None, tell: Tell | None) -> None:
    """The training as one of several processes does it."""
    Training(folder, corpus, valid, tell, world).run()


def _finished(folder: Path) -> Finished:
    _, told = checkpoint.read_tensors(folder / STATE)
    place = msgspec.convert(told, Progress)
    return Finished(checkpoint.read_card(folder), tuple(place.log), tuple(_notes(place)))


def _notes(place: Progress) -> Iterator[str]:
    if place.pieces > 1:
        yield f"batches did not fit into memory and were cut into {place.pieces} pieces; the weights are the same"
    if place.stopped:
        yield f"stopped at step {place.step:,}: no better validation in the last {place.bad} times"


# ---------------------------------------------------------------------------------------------- before the first step


def _prepare(
    corpus: Corpus,
    name: str,
    folder: Path,
    language: str,
    options: dict[str, Any],
    settings: Settings,
    valid: Corpus | None,
    progress: Callable[[int], object] | None,
) -> list[str]:
    """Fills the directory with all that a training needs; gives notes. On resuming, checks that all is as it was."""
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    strange = sorted(name for name in names if name not in _OWN and not name.endswith((NEW, LOCK)))
    if strange or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder}: is there already and is no directory of a training ({(strange or ['a file'])[0]})")
    kept = {
        key: value for key, value in asdict(settings).items() if key not in ("resume", "minutes", "steps", "epochs")
    }
    if checkpoint.is_checkpoint(folder):
        if not settings.resume:
            raise InputError(
                f"{folder}: a trained model is there already; go on with --resume, or name another directory"
            )
        _check_same(folder, corpus, name, language, options, settings, kept)
        return []
    with writing_errors(folder, folder.parent):
        folder.mkdir(exist_ok=True)
    _, learning = checkpoint.parted(name, options)
    digest = blake2b(digest_size=16)
    words = count_words(_hashed(corpus, digest), learning.read, learning.written)
    write_beside(folder / WORDS, words.as_text().encode())
    others = frozenset(map(content_of, valid)) if valid is not None else frozenset()
    how: dict[str, Any] = {"language": language, "targets": learning.targets, "longest": learning.longest}
    counts = write_examples(folder / EXAMPLES, corpus, words, others=others, progress=progress, **how)
    notes = list(_notes_on(counts))
    if valid is not None:
        some = (document for document, _ in zip(valid, range(VALIDATED), strict=False))
        checked = write_examples(folder / VALID_EXAMPLES, some, words, **how)
        if not checked.documents:
            raise InputError("no validation document has references that can be written or copied")
    if not counts.documents:
        raise InputError("no document has references that can be written or copied")
    card = checkpoint.new_card(
        name,
        language,
        options,
        kept,
        corpus={"name": corpus.name, "hash": digest.hexdigest(), "documents": counts.documents},
        valid=None if valid is None else {"name": valid.name, "documents": checked.documents},
        steps=0,
    )
    checkpoint.write_card(folder, card)
    return notes


def _hashed(corpus: Corpus, digest: Any) -> Iterator[Document]:
    for document in corpus:
        digest.update(msgspec.msgpack.encode(document))
        yield document


def _notes_on(counts: Counts) -> Iterator[str]:
    if counts.shared:
        yield f"{counts.shared:,} of the training documents are also validation documents: validation looks too good"
    if counts.empty:
        yield f"{counts.empty:,} documents without text or references were left out"
    if counts.unwritable:
        yield f"{counts.unwritable:,} documents were left out: their references can neither be written nor copied"
    if not counts.present:
        yield "all references are absent from their documents: nothing can be learned of copying"


def _check_same(
    folder: Path, corpus: Corpus, name: str, language: str, options: dict[str, Any], settings: Settings, kept: Any
) -> None:
    """Raises InputError unless a training that is to go on is of the same corpus, model and settings."""
    card = checkpoint.read_card(folder)
    digest = blake2b(digest_size=16)
    for _ in _hashed(corpus, digest):
        pass
    here = {"model": name, "language": language, **options, **kept, "corpus": digest.hexdigest()}
    there = {
        "model": card.model,
        "language": card.language,
        **card.options,
        **card.settings,
        "corpus": card.corpus["hash"],
    }
    if settings.steps is not None and card.steps:
        here["steps"], there["steps"] = settings.steps, card.steps
    for key, value in here.items():
        if key != "device" and there.get(key) != value:
            raise InputError(
                f"{folder}: was trained with another {key} ({there.get(key)}, not {value}); name another directory"
            )


# ---------------------------------------------------------------------------------------------- the loop


class Training:
    """A training in its directory; `run` is the loop."""

    def __init__(
        self, folder: Path, corpus: Corpus, valid: Corpus | None, tell: Tell | None, world: World | None = None
    ) -> None:
        self.folder, self.corpus, self.valid, self.tell = folder, corpus, valid, tell
        self.world = world or World()
        self.card = checkpoint.read_card(folder)
        self.settings = Settings(**self.card.settings)
        _, self.learning = checkpoint.parted(self.card.model, self.card.options)
        self.words: Words = checkpoint.read_words(folder)
        self.device = _device(self.settings.device)
        self.examples = Examples(folder / EXAMPLES, self.words.written)
        path = folder / VALID_EXAMPLES
        self.checked = Examples(path, self.words.written) if path.is_file() else None
        self.size = self.settings.batch * self.world.size  # documents of a batch, on all processes
        self.many = len(self.examples.batches(self.size, 0, 0))  # batches of an epoch
        self._epoch: tuple[int, list[NDArray[np.int64]]] = (-1, [])
        self.place = Progress()
        self._begin()

    def _begin(self) -> None:
        """The model and its optimiser as they are before the first step."""
        torch.manual_seed(self.settings.seed)
        self.model: Generator = checkpoint.build(self.card.model, self.card.options, self.words).to(self.device)
        self.optimiser = torch.optim.Adam(self.model.parameters(), self.learning.rate, fused=True)

    def run(self) -> Finished:
        """Trains to the end; gives what came of it."""
        if (self.folder / STATE).is_file():
            self._restore()
        with kept_memory():
            return self._loop()

    def _loop(self) -> Finished:
        steps = self.card.steps
        every = min(math.ceil(steps / VALIDATIONS), MOST_BETWEEN)
        begun = saved = time.monotonic()
        first = self.place.step
        while self.place.step < steps and not self.place.stopped:
            loss, tokens = self._step(self.place.step)
            self.place.step += 1
            self.place.total, self.place.tokens = self.place.total + loss, self.place.tokens + tokens
            value = None
            if self.place.step % every == 0 or self.place.step == steps:
                value = self._validate()
                self._keep()
                saved = time.monotonic()
            elif time.monotonic() - saved > SAVED:
                self._save()
                saved = time.monotonic()
            self._say(loss / tokens, value, first, time.monotonic() - begun)
        return Finished(self.card, tuple(self.place.log), tuple(_notes(self.place)))

    def _step(self, step: int) -> tuple[float, int]:
        """One update of the weights; gives (summed loss, words). What does not fit into memory is cut into halves."""
        rows = [self._rows(step * self.settings.accumulate + at) for at in range(self.settings.accumulate)]
        while True:
            try:
                total, tokens = self._gradients(step, rows)
                break
            except RuntimeError as error:
                if not _is_out_of_memory(error) or self.place.pieces >= self.settings.batch:
                    raise
                self.place.pieces *= 2
        if not math.isfinite(total):
            raise InputError(f"the loss of step {step + 1:,} is not a number{self._who(rows)}; the last state is kept")
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= tokens
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.learning.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate(step)
        self.optimiser.step()
        self.place.documents += self.settings.accumulate * self.size
        return total, tokens

    def _gradients(self, step: int, rows: list[NDArray[np.int64]]) -> tuple[float, int]:
        """(summed loss, words) of these examples, on all processes; the gradients are those of the sum."""
        torch.manual_seed((self.settings.seed * 1_000_003 + step) * 64 + self.world.rank)
        self.model.train()
        self.optimiser.zero_grad(set_to_none=False)
        total, tokens = torch.zeros((), device=self.device), torch.zeros((), device=self.device)
        for batch in self._pieces(rows):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.settings.precision == "bf16"):
                loss, count = self.model.loss(batch)
            loss.backward()
            total, tokens = total + loss.detach(), tokens + count
        total, tokens = self.world.add_up(self.model, total, tokens)
        return float(total), int(tokens)

    def _rate(self, step: int) -> float:
        """The rate of a step: it rises, then falls in a line to the last step, by halves, or not at all."""
        found = self.learning.rate * min(1.0, (step + 1) / max(self.learning.warmup, 1))
        if self.learning.schedule == "linear":
            return found * (1 - step / self.card.steps)
        return found * 0.5**self.place.halvings

    def _rows(self, batch: int) -> NDArray[np.int64]:
        """The examples of a batch that this process has, counted from the beginning of the training."""
        epoch, at = divmod(batch, self.many)
        if self._epoch[0] != epoch:
            self._epoch = epoch, self.examples.batches(self.size, self.settings.seed, epoch)
        return self._epoch[1][at][self.world.rank :: self.world.size]

    def _pieces(self, batches: list[NDArray[np.int64]]) -> Iterator[Batch]:
        for rows in batches:
            for some in np.array_split(rows, min(self.place.pieces, max(len(rows), 1))):
                if len(some):
                    yield Batch.of(self.examples.arrays(some), self.device)

    def _who(self, batches: list[NDArray[np.int64]]) -> str:
        """The documents of some batches, in brackets."""
        places = {int(self.examples.index[row, 4]) for rows in batches for row in rows}
        named = [str(document.id) for at, document in enumerate(self.corpus) if at in places]
        return f" (documents {', '.join(named[:8])}{' and others' if len(named) > 8 else ''})"

    # ------------------------------------------------------------------------------------------ validation

    def _validate(self) -> float | None:
        """Notes how good the model is; says whether it is to stop. All processes come to the same end."""
        loss = self._valid_loss()
        line = {
            "step": self.place.step,
            "documents": self.place.documents,
            "loss": round(self.place.total / self.place.tokens, 5),
            "valid": None if loss is None else round(loss, 5),
            "rate": self._rate(self.place.step - 1),
        }
        stopping = self.settings.stopping()
        value = loss
        if stopping is not None and stopping[0] != "loss":
            line[stopping[0]] = value = -self._score(stopping[0])
            line[stopping[0]] = -value
        self.place.log.append(line)
        self.place.total, self.place.tokens = 0.0, 0
        if value is None or self.place.best is None or value < self.place.best:
            self.place.best, self.place.bad = value, 0
        else:
            self.place.bad += 1
            self.place.halvings += self.learning.schedule == "halve"
            self.place.stopped = stopping is not None and self.place.bad >= stopping[1]
        return loss

    @torch.no_grad()
    def _valid_loss(self) -> float | None:
        """The loss a word on the validation documents."""
        if self.checked is None:
            return None
        self.model.eval()
        total, many = 0.0, 0
        order = np.argsort(self.checked.index[:, 1], kind="stable")
        for at in range(0, len(order), 32):
            loss, count = self.model.loss(Batch.of(self.checked.arrays(order[at : at + 32]), self.device))
            total, many = total + float(loss), many + int(count)
        return total / many

    def _score(self, metric: str) -> float:
        """What a metric says of the model's predictions for the validation documents."""
        from itertools import islice

        from karat.evaluate import score
        from karat.generators.writing import Writer

        assert self.valid is not None
        documents = list(islice(self.valid, VALIDATED))
        self.model.eval()
        loaded = checkpoint.Loaded(self.card, self.words, self.model)
        from karat.corpus import Run

        run = Run.of(Writer(loaded, n=50).predict(documents))
        return float(score(Corpus.of(documents), run, metrics=[metric]).rows()[0]["value"] or 0.0)

    # ------------------------------------------------------------------------------------------ files

    def _keep(self) -> None:
        """Writes the weights where they are the best so far, and the state."""
        if self.world.rank == 0:
            if not self.place.bad:
                checkpoint.write_tensors(self.folder / WEIGHTS, self.model.state_dict())
                self.card = msgspec.structs.replace(
                    self.card,
                    step=self.place.step,
                    documents=self.place.documents,
                    loss=self.place.log[-1]["valid"],
                    parameters=sum(each.numel() for each in self.model.parameters()),
                )
                checkpoint.write_card(self.folder, self.card)
            self._save()
            write_beside(self.folder / LOG, b"".join(msgspec.json.encode(each) + b"\n" for each in self.place.log))

    def _save(self) -> None:
        """Writes all that is needed to go on."""
        if self.world.rank:
            return
        tensors: dict[str, Tensor] = {f"weight.{name}": each for name, each in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key in ("exp_avg", "exp_avg_sq"):
                tensors[f"{key}.{name}"] = self.optimiser.state[parameter][key]
        told = asdict(self.place)
        checkpoint.write_tensors(self.folder / STATE, tensors, told)
        epoch, at = divmod(self.place.step * self.settings.accumulate, self.many)
        said = {key: value for key, value in told.items() if key != "log"}
        random = "drawn anew in each step from the seed and the number of the step"
        place = msgspec.json.encode({**said, "epoch": epoch, "batch": at, "random": random})
        write_beside(self.folder / PLACE, msgspec.json.format(place, indent=1) + b"\n")

    def _restore(self) -> None:
        """The model, its optimiser and the place as the state has them."""
        tensors, told = checkpoint.read_tensors(self.folder / STATE)
        by = {kind: _below(kind, tensors) for kind in ("weight", "exp_avg", "exp_avg_sq")}
        checkpoint.fill(self.model, by["weight"], self.folder / STATE)
        self.place = msgspec.convert(told, Progress)
        state = {
            at: {
                "step": torch.tensor(float(self.place.step)),
                **{key: by[key][name] for key in ("exp_avg", "exp_avg_sq")},
            }
            for at, (name, _) in enumerate(self.model.named_parameters())
        }
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})

    def _say(self, loss: float, valid: float | None, first: int, seconds: float) -> None:
        if self.tell is not None and self.world.rank == 0:
            done = self.place.step - first
            documents = done * self.size * self.settings.accumulate / max(seconds, 1e-9)
            left = (self.card.steps - self.place.step) * seconds / done
            self.tell(Told(self.place.step, self.card.steps, loss, documents, left, valid))

    # ------------------------------------------------------------------------------------------ how many steps

    def plan(self, wanted: Settings) -> int:
        """How many steps the training has, written to its card; `--minutes` times some steps, which are thrown away."""
        if not self.card.steps:
            epoch = self.many / self.settings.accumulate
            if wanted.steps is not None:
                steps = wanted.steps
            elif wanted.epochs is not None:
                steps = math.ceil(wanted.epochs * epoch)
            else:
                with kept_memory():
                    steps = self._steps_in(60 * (wanted.minutes or MINUTES))
            self.card = msgspec.structs.replace(self.card, steps=steps)
            if self.world.rank == 0:
                checkpoint.write_card(self.folder, self.card)
        return self.card.steps

    def _steps_in(self, seconds: float) -> int:
        """About how many steps fit into this time, of which validations take their part."""
        self.card = msgspec.structs.replace(self.card, steps=1_000_000)
        budget = min(seconds / 10, 30.0)
        for _ in range(2):
            self._step(0)  # what is slow only once
        begun, done = time.monotonic(), 0
        while done < TIMED and (done < 2 or time.monotonic() - begun < budget):
            self._step(done)
            done += 1
        each = (time.monotonic() - begun) / done
        begun = time.monotonic()
        self._valid_loss()
        free = seconds - VALIDATIONS * (time.monotonic() - begun)
        self.place = Progress()
        self._begin()
        return max(int(free / each), VALIDATIONS)


def _is_out_of_memory(error: RuntimeError) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)


def _below(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(f"{kind}."): each for name, each in tensors.items() if name.startswith(f"{kind}.")}


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with suppress(RuntimeError, AssertionError):
        found = torch.device(name)
        torch.zeros(1, device=found)
        return found
    raise InputError(f"--device {name}: there is no such device here")

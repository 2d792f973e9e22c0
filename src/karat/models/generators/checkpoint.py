"""A trained generator on disk: a directory of plain files, none of them pickled.

`model.json` says what it is, `words.txt` is its table of words, `weights.safetensors` its weights. What is needed to
go on with the training is in `state.safetensors`, complete in one file so that a kill leaves the old state or the new
one; `state.json` says in words what it is. Each file is written beside its place and renamed.

`model.json` has its own checksum and those of the other files that a prediction or a training reads (see
`formats.checksums`). It is written before new weights replace the old ones, with the checksums of the old ones as
`previous`: whenever the process is killed, the files match one of the two. `state.safetensors` has its checksum within.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from karat.errors import InputError, unknown
from karat.formats.checksums import REMEDY, checksum_json, damage, file_checksum, verify_json
from karat.formats.files import read_whole
from karat.formats.load import Count, converted, decoded_json
from karat.formats.output import put_in_place, write_beside
from karat.models.generators.memory import memory_here
from karat.models.generators.settings import GENERATORS, Learning, Settings, checked, torch_or_error
from karat.models.generators.words import Words
from karat.record import note_input

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

    from karat.models.generators.base import Generator

FORMAT = "karat generator 1"
MODEL, WORDS, WEIGHTS, LOG = "model.json", "words.txt", "weights.safetensors", "log.jsonl"
STATE, PLACE, EXAMPLES, VALID_EXAMPLES = "state.safetensors", "state.json", "examples.i32", "valid.i32"
FILES = frozenset((MODEL, LOG, STATE, PLACE, EXAMPLES, VALID_EXAMPLES))  # of every training
OF_TRAINING = (EXAMPLES, VALID_EXAMPLES)  # have checksums, and are not read to predict
NO_FILE = ""  # in place of the checksum of a file that a training had not written before


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `model.json` says."""

    format: str
    model: str
    karat: str
    language: str
    options: dict[str, Any]  # of the model: its shape and how it learns
    settings: dict[str, Any]  # of the training
    corpus: dict[str, Any]  # name, hash, documents
    valid: dict[str, Any] | None = None
    steps: Count  # that the training has as a whole
    step: Count = 0  # that the weights are of
    documents: Count = 0  # seen until then
    parameters: Count = 0
    loss: float | None = None  # on the validation documents
    files: dict[str, str] = {}  # checksums by name; none where an earlier version of karat wrote the directory
    previous: dict[str, str] = {}  # checksums of the files that these replace


def is_checkpoint(path: str | Path) -> bool:
    """Whether a path is a directory with a `model.json`."""
    try:
        return (Path(path) / MODEL).is_file()
    except (OSError, ValueError):
        return False


def read_card(folder: str | Path) -> Card:
    """What a trained model is. Raises InputError if there is none, or if it is of another version."""
    path = Path(folder) / MODEL
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such directory; karat train copyrnn CORPUS -o DIR makes one")
    if not path.is_file():
        pretrained = (Path(folder) / "config.json").is_file()
        instead = f"write seq2seq,model={folder}" if pretrained else "karat train copyrnn CORPUS -o DIR makes one"
        raise InputError(f"{folder}: has no {MODEL}, so that it is no model that karat trained; {instead}")
    complaint = "does not say what the model is"
    content, _ = verify_json(read_whole(path), path)
    head = decoded_json(content, Any, str(path), complaint)
    if isinstance(head, dict) and head.get("format", FORMAT) != FORMAT:
        raise InputError(
            f"{path}: is of another version ({str(head['format'])[:40]!r}, and this karat reads {FORMAT!r})"
        )
    card = converted(head, Card, str(path), complaint)
    try:
        _check(card)
    except InputError as error:
        raise InputError(f"{path}: does not say what the model is ({error})") from None
    return card


def _check(card: Card) -> None:
    """Raises InputError where a card names what there is not, or has a value of another type."""
    from karat.text.languages import named

    if card.model not in GENERATORS:
        raise unknown("generator", card.model, GENERATORS)
    parted(card.model, card.options)
    checked(Settings, card.settings)
    named(card.language)
    if strange := next((name for name in card.files if Path(name).name != name), None):
        raise InputError(f"{strange[:80]!r} is no file of the directory")
    for key in ("name", "hash"):
        if not isinstance(card.corpus.get(key), str):
            raise InputError(f"the {key} of the corpus is missing")


def write_card(folder: Path, card: Card) -> None:
    """Write `model.json`."""
    write_beside(folder / MODEL, checksum_json(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n"))


def with_checksums(card: Card, folder: Path, names: Iterable[str]) -> Card:
    """Record the checksums of those files in a card that are in the directory."""
    files = {name: file_checksum(folder / name) for name in sorted(names) if (folder / name).is_file()}
    return msgspec.structs.replace(card, files=files, previous={})


def replace_files(folder: Path, card: Card, new: Path) -> Card:
    """Move the files of another folder into the directory, recorded in its card, and return the card."""
    files, previous = dict(card.files), dict(card.previous)
    names = sorted(path.name for path in new.iterdir())
    for name in names:
        files[name] = file_checksum(new / name)
        old = file_checksum(folder / name) if (folder / name).is_file() else NO_FILE
        if old != files[name]:
            previous[name] = old
    card = msgspec.structs.replace(card, files=files, previous=previous)
    write_card(folder, card)
    for name in names:
        with (new / name).open("rb") as file:
            os.fsync(file.fileno())
        put_in_place(new / name, folder / name)
    return card


def check_files(folder: Path, card: Card, *, training: bool = False) -> None:
    """Compare the files of a directory with their checksums; those of a training alone only for one.

    Raises:
        InputError: A file is missing, or is damaged.
    """
    for name, expected in card.files.items():
        if name in OF_TRAINING and not training:
            continue
        path = folder / name
        if not path.is_file():
            if card.previous.get(name) == NO_FILE:
                continue
            raise InputError(f"{path}: there is no such file, which {MODEL} lists; {REMEDY}")
        if file_checksum(path) not in (expected, card.previous.get(name)):
            raise damage(path)


def read_words(folder: str | Path) -> Words:
    """The table of words of a trained model."""
    path = Path(folder) / WORDS
    content = read_whole(path)
    try:
        return Words.of_text(content.decode())
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is no table of words: {error}") from None


def parted(name: str, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """(the shape, how it learns) of the options of a model, with defaults for what is not given.

    A model that goes on to learn by reward has the shape of the one that it was, which the option `of` names.
    """
    name, options = _network(name, options)
    shape, learns = GENERATORS[name].shape, GENERATORS[name].learning
    options = {**GENERATORS[name].preset, **options}
    own, others = ({each.name for each in fields(kind)} for kind in (shape, learns))
    strange = next((key for key in options if key not in own | others), None)
    if strange is not None:
        raise unknown(f"option of {name}", strange, own | others)
    made = checked(shape, {key: value for key, value in options.items() if key in own})
    learning = checked(learns, {key: value for key, value in options.items() if key not in own})
    if isinstance(learning, Learning) and learning.targets == "one2one" and not GENERATORS[name].one2one:
        raise InputError(f"{name} learns all phrases of a document together: its targets are one2seq, not one2one")
    return made, learning


def _network(name: str, options: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """(the generator whose network it is, the options without saying so)."""
    if not GENERATORS[name].reward:
        return name, options
    of = options.get("of")
    if not isinstance(of, str) or of not in GENERATORS or GENERATORS[of].reward:
        raise InputError(f"{name} is another generator that goes on to learn: give a trained one as --from DIR")
    return of, {key: value for key, value in options.items() if key != "of"}


def network(name: str, options: Mapping[str, Any], words: Words, numbers: int = 1) -> Callable[[], Generator]:
    """What makes a model of this shape; raises InputError unless so many numbers for each weight fit into memory."""
    import torch

    shape, _ = parted(name, options)
    name, _ = _network(name, options)
    module, _, kind = GENERATORS[name].network.partition(":")
    make = partial(getattr(import_module(module), kind), shape, len(words), words.written)
    with torch.device("meta"):  # where a tensor has a shape and no content
        weights = sum(each.numel() for each in make().parameters())
    if 4 * weights * numbers > memory_here():
        raise InputError(f"{name}: {weights:,} weights do not fit into the memory of this machine; make it smaller")
    return make


def build(name: str, options: Mapping[str, Any], words: Words) -> Generator:
    """A model of this shape, with new weights."""
    made = network(name, options, words)()
    made.know(words)
    return made


@dataclass(frozen=True, slots=True)
class Loaded:
    """A trained model, ready to write."""

    card: Card
    words: Any  # of the type that the material of the model knows
    model: Generator


def load(folder: str | Path, device: str = "cpu") -> Loaded:
    """The trained model in a directory.

    Raises InputError if the directory is none of a trained model, or if a weight is missing or of another shape.
    """
    card = read_card(folder)
    torch_or_error(f"{folder}: a {card.model}")
    from karat.models.generators.material import material_of

    check_files(Path(folder), card)
    loaded = material_of(card.model).load(Path(folder), card)
    return Loaded(card, loaded.words, loaded.model.to(device).eval())


def fill(model: Generator, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Gives a model its weights; InputError where they are not those of its shape."""
    wanted = model.tensors()
    for name, tensor in wanted.items():
        if name not in tensors:
            raise InputError(f"{path}: the weight {name} is missing")
        if tensors[name].shape != tensor.shape:
            raise InputError(
                f"{path}: the weight {name} is {list(tensors[name].shape)}, and the model has {list(tensor.shape)}"
            )
    strange = sorted(set(tensors) - set(wanted))
    if strange:
        raise InputError(f"{path}: has a weight {strange[0]}, which the model does not have")
    check_numbers(tensors, path)
    model.load_state_dict(dict(tensors), strict=False)  # the names are checked above; some weights have two


def check_numbers(weights: Mapping[str, Tensor], where: str | Path) -> None:
    """Raises InputError where a weight has a value that is no finite number."""
    for name, weight in weights.items():
        if weight.is_floating_point() and not weight.isfinite().all():
            raise InputError(f"{where}: the weight {name} has values that are not finite numbers")


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """(the tensors of a file, what is said of them)."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError(f"{path}: there is no such file; the training has not come so far, or it was removed")
    note_input(path)
    try:
        with safe_open(str(path), framework="pt") as file:
            told = (file.metadata() or {}).get("karat", "{}")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path}: is no file of weights, or is damaged ({str(error)[:120]})") from None
    if not told.startswith("{"):  # an earlier version of karat wrote no checksum before it
        expected, _, told = told.partition(" ")
        if expected != _tensors_checksum(tensors, told):
            raise damage(path)
    complaint = "is no file of weights, or is damaged"
    return tensors, decoded_json(told.encode("utf-8", "replace"), dict[str, Any], str(path), complaint)


def write_tensors(path: Path, tensors: Mapping[str, Tensor], told: Mapping[str, Any] | None = None) -> None:
    """Write tensors to a file: the same ones give the same bytes. With `told`, the file has a checksum."""
    from safetensors.torch import save

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = None
    if told is not None:
        text = msgspec.json.encode(dict(told)).decode()
        metadata = {"karat": f"{_tensors_checksum(plain, text)} {text}"}  # one member: the order of several varies
    write_beside(path, save(plain, metadata))


def _tensors_checksum(tensors: Mapping[str, Tensor], told: str) -> str:
    """Compute the CRC-32 of tensors, with their names, types and shapes, and of a text."""
    import torch

    value = zlib.crc32(told.encode("utf-8", "replace"))
    for name, tensor in sorted(tensors.items()):
        value = zlib.crc32(f"{name} {tensor.dtype} {list(tensor.shape)}".encode("utf-8", "replace"), value)
        value = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy(), value)
    return f"{value:08x}"


# ---------------------------------------------------------------------------------------------- the state of a training

_ADAM = ("exp_avg", "exp_avg_sq")  # what Adam keeps of each weight


def _kept(optimiser: Optimizer, parameter: Tensor) -> dict[str, Any]:
    """The shapes of what an optimiser keeps of a weight, by name; Adam's are those of the weight."""
    shapes = getattr(optimiser, "shapes", None)
    return dict.fromkeys(_ADAM, parameter.shape) if shapes is None else shapes(parameter)


def _learned(model: Generator, optimiser: Optimizer) -> list[tuple[str, Tensor]]:
    """The weights that an optimiser changes, in its order, with their names."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return [(names[id(each)], each) for group in optimiser.param_groups for each in group["params"]]


def write_state(folder: Path, model: Generator, optimiser: Optimizer, told: Mapping[str, Any]) -> None:
    """Writes all that is needed to go on with a training; `told` is what is not a tensor."""
    tensors = {f"weight.{name}": each for name, each in model.tensors().items()}
    for name, parameter in _learned(model, optimiser):
        for key in _kept(optimiser, parameter):
            tensors[f"{key}.{name}"] = optimiser.state[parameter][key]
    write_tensors(folder / STATE, tensors, told)


def read_state(folder: Path, model: Generator, optimiser: Optimizer) -> dict[str, Any]:
    """Gives model and optimiser what a state has; gives what is not a tensor."""
    import torch

    tensors, told = read_tensors(folder / STATE)
    by: dict[str, dict[str, Tensor]] = {"weight": {}}
    for name, tensor in tensors.items():
        kind, _, rest = name.partition(".")
        by.setdefault(kind, {})[rest] = tensor
    fill(model, by["weight"], folder / STATE)
    if not isinstance(told, dict) or not isinstance(told.get("step"), int) or told["step"] < 0:
        raise InputError(f"{folder / STATE}: does not say after which step it is")
    state: dict[int, dict[str, Tensor]] = {}
    for at, (name, parameter) in enumerate(_learned(model, optimiser)):
        state[at] = {"step": torch.tensor(float(told["step"]))}
        for key, shape in _kept(optimiser, parameter).items():
            found = by.get(key, {}).get(name)
            if found is None or found.shape != shape:
                raise InputError(
                    f"{folder / STATE}: what the optimiser keeps of {name} is missing, or of another shape"
                )
            state[at][key] = found
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    return told

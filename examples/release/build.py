"""Makes a wheel of a trained model: python build.py MODEL --name NAME --licence ID --attribution TEXT -o DIR.

MODEL is a directory that `karat train` wrote, or the file of a kea. Who installs the wheel predicts at once, with
`karat predict NAME CORPUS`. The same model gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

import karat
from karat.errors import InputError
from karat.formats.files import read_whole
from karat.formats.output import write_beside, writing_errors
from karat.models.find import KEA, own_models
from karat.models.generators import checkpoint
from karat.models.generators.checkpoint import (
    Card,
    read_card,
    read_tensors,
    with_checksums,
    write_card,
    write_tensors,
)
from karat.models.generators.settings import GENERATORS, torch_or_error

ADDRESSES = {  # where the text of a licence is, which may then be named in place of the text
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC-BY-NC-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "CC-BY-NC-SA-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
}
PICKLES = (".bin", ".ckpt", ".joblib", ".pickle", ".pkl", ".pt", ".pth")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
VERSION = re.compile(r"[0-9]+(\.[0-9]+)*")


@dataclass(frozen=True, slots=True)
class Release:
    """What is said of a trained model when it is given to others."""

    name: str  # by which karat predict knows it
    licence: str  # an SPDX expression
    attribution: str  # whose texts it learned from, and where they are
    version: str = "0.1"
    precision: str = "fp32"  # of the weights in the wheel
    licence_file: str | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InputError(f"--name {self.name}: write small letters and digits with - between, as papyrus-fr")
        if self.name in own_models():
            raise InputError(f"--name {self.name}: karat has a model of this name; give another")
        if not VERSION.fullmatch(self.version):
            raise InputError(f"--version {self.version}: write numbers with dots between, as 0.1")
        if not self.attribution.strip() or not self.attribution.isprintable():
            raise InputError("--attribution is a line that says whose texts the model learned from, and where they are")
        _check_licence(self.licence)
        if self.licence_file is None and self.licence not in ADDRESSES:
            raise InputError(f"--licence {self.licence}: give its text, as --licence-file FILE")

    @property
    def package(self) -> str:
        """The name of the package that is installed."""
        return f"karat-model-{self.name}"

    @property
    def module(self) -> str:
        """The name of the package's folder."""
        return self.package.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model: its kind and language, and a sentence that says what it has seen."""

    kind: str
    language: str
    documents: int

    @property
    def summary(self) -> str:
        """What it is, in a line."""
        return f"{self.language.capitalize()} keyphrases by a {self.kind} that has seen {self.documents:,} documents."


def build(model: str | Path, release: Release, output: str | Path) -> Path:
    """Writes the wheel of a trained model into a folder; gives its path.

    Raises InputError where there is no trained model, or where it cannot be given to others as it is.
    """
    with TemporaryDirectory() as folder:
        root = Path(folder)
        inside = root / release.module
        (inside / "model").mkdir(parents=True)
        trained, offered = _copy(Path(model), inside / "model", release.precision)
        (inside / "__init__.py").write_text(
            f'"""{release.name}: a trained model for karat predict."""\n\nfrom pathlib import Path\n\n'
            f"MODEL = Path(__file__).parent.joinpath({', '.join(map(json.dumps, offered))})\n"
        )
        (root / "LICENSE.txt").write_text(_licence(release, trained), encoding="utf-8")
        (root / "README.md").write_text(_readme(release, trained), encoding="utf-8")
        (root / "pyproject.toml").write_text(_project(release, trained), encoding="utf-8")
        wheel = _wheel(root)
        with writing_errors(Path(output) / wheel.name, Path(output)):
            Path(output).mkdir(parents=True, exist_ok=True)
        write_beside(Path(output) / wheel.name, wheel.read_bytes())
        return Path(output) / wheel.name


def _wheel(root: Path) -> Path:
    try:
        from hatchling.builders.wheel import WheelBuilder
    except ImportError:
        raise InputError("a wheel is built by hatchling: pip install hatchling") from None
    return Path(next(WheelBuilder(str(root)).build(directory=str(root / "dist"), versions=["standard"])))


# ---------------------------------------------------------------------------------------------- the model


def _copy(model: Path, target: Path, precision: str) -> tuple[Trained, tuple[str, ...]]:
    """Copies what predicting needs; gives what the model is, and its place inside of the package."""
    if model.is_dir():
        return _copy_generator(model, target, precision), ("model",)
    from karat.models.extractors.kea import read_kea

    if precision != "fp32":
        raise InputError(f"--precision {precision}: a kea has counts and no weights")
    learned = read_kea(str(model))
    (target / "kea.json").write_bytes(read_whole(model))
    return Trained(KEA, learned.language, learned.documents), ("model", "kea.json")


def _copy_generator(folder: Path, target: Path, precision: str) -> Trained:
    card = read_card(folder)
    torch_or_error(f"{folder}: a {card.model}")
    from karat.models.generators.material import material_of

    pickled = sorted(each.name for each in folder.iterdir() if each.suffix in PICKLES)
    if pickled:
        raise InputError(f"{folder}: {pickled[0]} may be a pickle, which runs code when it is read; remove it first")
    checkpoint.load(folder)  # says what is wrong with its files
    names = material_of(card.model).files
    for name in sorted(names):
        if (folder / name).is_file():
            (target / name).write_bytes((folder / name).read_bytes())
    if precision == "bf16":
        _halve(target / GENERATORS[card.model].weights, card.model)
    write_card(target, with_checksums(_without_folders(card), target, names))
    return Trained(card.model, card.language, card.documents)


def _without_folders(card: Card) -> Card:
    """A card on which what a training began with has its name alone: whose folder it was is nobody's business."""
    given = ({**card.settings}, {**card.options})
    for told, key in zip(given, ("start", "model"), strict=True):
        text = told.get(key)
        if isinstance(text, str) and text and not text.startswith(("hf:", "package:")):
            told[key] = Path(text).name
    settings, options = given
    return msgspec.structs.replace(card, settings=settings, options=options)


def _halve(path: Path, kind: str) -> None:
    """Rounds weights to 16 bits; in memory they are 32 again."""
    import torch

    if GENERATORS[kind].weights != checkpoint.WEIGHTS:
        raise InputError(f"--precision bf16: the weights of a {kind} are given as they are")
    tensors, _ = read_tensors(path)
    halved = {name: each.to(torch.bfloat16) if each.dtype == torch.float32 else each for name, each in tensors.items()}
    write_tensors(path, halved)


# ---------------------------------------------------------------------------------------------- what is said of it


def _check_licence(licence: str) -> None:
    try:
        from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
    except ImportError:
        raise InputError("licences are checked by packaging: pip install 'packaging>=24.2'") from None
    try:
        known = canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        known = None
    if known != licence:
        instead = f"write {known}" if known else "write an identifier of SPDX, as CC-BY-SA-4.0"
        raise InputError(f"--licence {licence or 'is empty'}: {instead}")


def _licence(release: Release, trained: Trained) -> str:
    """The file that says what may be done with the model."""
    address = ADDRESSES.get(release.licence)
    lines = [
        f"{release.package} {release.version}",
        "",
        f"Learned from: {release.attribution}",
        f"Licence: {release.licence}" + (f", {address}" if address else ""),
        f"Changes: `karat train {trained.kind}` computed what is here from these texts: numbers, words or stems with",
        "their counts, and settings. The texts themselves are not here.",
        "The model is given as it is, without warranties of any kind.",
    ]
    if release.licence_file is not None:
        lines += ["", read_whole(release.licence_file).decode(errors="replace").strip()]
    return "\n".join(lines) + "\n"


def _readme(release: Release, trained: Trained) -> str:
    return (
        f"# {release.package}\n\n{trained.summary}\n\n```sh\nkarat predict {release.name} corpus.jsonl\n```\n\n"
        f"Learned from: {release.attribution}. Licence: {release.licence}.\n"
    )


def _project(release: Release, trained: Trained) -> str:
    """What hatchling is told."""
    needed = f"karat>={karat.__version__}" if trained.kind == KEA else f"karat[neural]>={karat.__version__}"
    said = {
        "name": release.package,
        "version": release.version,
        "description": trained.summary,
        "readme": "README.md",
        "license": release.licence,
        "license-files": ["LICENSE.txt"],
        "requires-python": ">=3.11",
        "dependencies": [needed],
    }
    lines = [
        "[project]",
        *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in said.items()),
        '[project.entry-points."karat.models"]',
        f'{release.name} = "{release.module}:MODEL"',
        "[tool.hatch.build.targets.wheel]",
        "ignore-vcs = true",
        f'packages = ["{release.module}"]',
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", metavar="MODEL", help="directory of a trained generator, or file of a kea")
    parser.add_argument("--name", required=True, help="what karat predict is to call it, as papyrus-fr")
    parser.add_argument("--licence", required=True, metavar="ID", help="SPDX identifier, as CC-BY-SA-4.0")
    parser.add_argument("--attribution", required=True, metavar="TEXT", help="whose texts it learned from, and where")
    parser.add_argument("--licence-file", metavar="FILE", help="text of the licence, where it is not one of CC's")
    parser.add_argument("--version", default="0.1", help="of the package (default 0.1)")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="of weights (default fp32)")
    parser.add_argument("-o", "--output", default="dist", metavar="DIR", help="where the wheel goes (default dist)")
    given = vars(parser.parse_args())
    model, output = given.pop("model"), given.pop("output")
    try:
        wheel = build(model, Release(**given), output)
    except InputError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return 2
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    print(f"pip install {wheel}\nkarat predict {given['name']} corpus.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())

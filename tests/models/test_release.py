"""examples/release: a trained model becomes a wheel, which is installed by pip and predicts as its directory does."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import karat
from karat.errors import InputError

pytest.importorskip("hatchling")

from examples.release.build import Release, build

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "karat" / "demo" / "corpus.jsonl"
GIVEN = {"name": "demo-kea", "licence": "CC-BY-SA-4.0", "attribution": "Abstracts of the demo, by their authors"}


def installed(wheel: Path, target: Path) -> dict[str, str]:
    """The environment of commands that find a wheel, which pip has unpacked into a folder."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(target), str(ROOT / "src")))}


def run_karat(environment: dict[str, str], *arguments: str | Path) -> str:
    command = [sys.executable, "-m", "karat", *map(str, arguments)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def kea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kea") / "kea.json"
    karat.train(DEMO, "kea", output=path)
    return path


def test_an_installed_kea_predicts_as_its_file_does(kea: Path, tmp_path: Path) -> None:
    wheel = build(kea, Release(**GIVEN), tmp_path / "dist")
    assert wheel.name == "karat_model_demo_kea-0.1-py3-none-any.whl"
    environment = installed(wheel, tmp_path / "site")
    run_karat(environment, "predict", "demo-kea", DEMO, "-o", tmp_path / "installed.jsonl")
    run_karat(environment, "predict", f"kea,model={kea}", DEMO, "-o", tmp_path / "file.jsonl")
    assert (tmp_path / "installed.jsonl").read_bytes() == (tmp_path / "file.jsonl").read_bytes()
    listed = " ".join(run_karat(environment, "list", "models").split())
    assert (
        "demo-kea A plug-in of karat-model-demo-kea 0.1: English keyphrases by a kea that has seen 60 documents."
        in listed
    )


def test_the_same_model_gives_the_same_bytes(kea: Path, tmp_path: Path) -> None:
    first, second = (build(kea, Release(**GIVEN), tmp_path / name) for name in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_wheel_says_whose_texts_it_learned_from_and_what_may_be_done_with_it(kea: Path, tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("Do what you like on Sundays.")
    own = GIVEN | {"licence": "LicenseRef-Sundays", "licence_file": str(tmp_path / "terms.txt"), "version": "2.1"}
    for release, said in ((Release(**GIVEN), "creativecommons.org/licenses/by-sa/4.0/"), (Release(**own), "Sundays.")):
        with zipfile.ZipFile(build(kea, release, tmp_path)) as wheel:
            inside = f"karat_model_demo_kea-{release.version}.dist-info"
            licence = wheel.read(f"{inside}/licenses/LICENSE.txt").decode()
            metadata = wheel.read(f"{inside}/METADATA").decode()
        assert said in licence
        assert "Learned from: Abstracts of the demo, by their authors\n" in licence
        assert f"\nLicense-Expression: {release.licence}\n" in metadata


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "Papyrus fr"}, "write small letters and digits"),
        ({"name": "kea"}, "karat has a model of this name"),
        ({"version": "new"}, "write numbers with dots between"),
        ({"attribution": " "}, "whose texts the model learned from"),
        ({"attribution": "two\nlines"}, "--attribution is a line"),
        ({"licence": ""}, "--licence is empty: write an identifier of SPDX"),
        ({"licence": "CC BY-SA"}, "--licence CC BY-SA: write an identifier of SPDX"),
        ({"licence": "cc-by-sa-4.0"}, "write CC-BY-SA-4.0"),
        ({"licence": "MIT"}, "give its text, as --licence-file FILE"),
    ],
)
def test_what_cannot_be_said_of_a_release_is_refused(changed: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Release(**GIVEN | changed)


def test_what_is_no_trained_model_is_refused_and_nothing_is_written(kea: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "pickled.json").write_bytes(b"\x80\x04\x95\x00.")
    for model, said in {
        "empty": "has no model.json, so that it is no model that karat trained",
        "pickled.json": "no trained model of kea",
        "nothing.json": "nothing.json",
    }.items():
        with pytest.raises(InputError, match=said):
            build(tmp_path / model, Release(**GIVEN), tmp_path / "dist")
    with pytest.raises(InputError, match="a kea has counts and no weights"):
        build(kea, Release(**GIVEN, precision="bf16"), tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_the_script_says_in_a_sentence_what_is_wrong(tmp_path: Path) -> None:
    flags = [f"--{name}={value}" for name, value in GIVEN.items()]
    command = [sys.executable, str(ROOT / "examples" / "release" / "build.py"), str(tmp_path), *flags]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"build.py: {tmp_path}: has no model.json")


def test_a_wheel_is_not_written_below_a_file(kea: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("keep me")
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="could not be written"):
            build(kea, Release(**GIVEN), output)
    assert (tmp_path / "file").read_text() == "keep me"

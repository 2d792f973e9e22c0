"""Datasets are read through the Hugging Face library, quietly, in one sentence if not, and never by their code."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import karat
from karat.corpus import Document
from karat.errors import InputError, MissingExtraError
from karat.formats import hub
from karat.formats.head import Head
from karat.formats.huggingface import FORMATS

MIDAS = {
    "id": 7,
    "document": ["Trees", "grow"],
    "doc_bio_tags": ["B", "O"],
    "extractive_keyphrases": ["trees"],
    "abstractive_keyphrases": [],
    "other_metadata": {"text": ["x"], "bio_tags": ["O"]},
}


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The library, kept from the network and from the user's cache, also if it was imported before."""
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_DATASETS_OFFLINE", "1")
        patch.setenv("HF_HOME", str(cache))
        import datasets
        import huggingface_hub.constants

        patch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
        patch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
        patch.setattr(datasets.config, "HF_DATASETS_CACHE", cache / "datasets")
        patch.setattr(datasets.config, "HF_MODULES_CACHE", str(cache / "modules"))
        yield datasets


def first_of(path: str) -> dict[str, Any]:
    """The first row of a dataset."""
    return next(row for _, row in hub.rows(path))


def saved(library: Any, folder: Path, **splits: list[dict[str, Any]]) -> str:
    """A folder as `save_to_disk` writes it: of one dataset if the split has no name, else of several."""
    made = {name: library.Dataset.from_list(records) for name, records in splits.items()}
    library.disable_progress_bars()
    (made["one"] if list(made) == ["one"] else library.DatasetDict(made)).save_to_disk(str(folder))
    library.enable_progress_bars()
    return str(folder)


def data_files(folder: Path, **splits: list[dict[str, Any]]) -> str:
    """A folder of JSON lines, one file a split."""
    folder.mkdir()
    for name, records in splits.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(folder)


def failure_of(path: str) -> str:
    with pytest.raises(InputError) as failure:
        list(hub.rows(path))
    message = str(failure.value)
    assert "\n" not in message
    return message


# ---------------------------------------------------------------------------------------------- saved folders


@pytest.mark.parametrize("prefix", ["", "datasets:"])
def test_a_saved_dataset_is_read_row_by_row(library: Any, tmp_path: Path, prefix: str) -> None:
    path = prefix + saved(library, tmp_path / "set", one=[MIDAS, MIDAS | {"id": 8}])

    assert hub.is_dataset(path)
    assert list(hub.rows(path)) == [(1, MIDAS), (2, MIDAS | {"id": 8})]
    assert first_of(path) == MIDAS


def test_a_saved_dataset_can_be_read_again_and_sees_what_was_saved_since(library: Any, tmp_path: Path) -> None:
    path = saved(library, tmp_path / "set", one=[{"id": 1}])
    assert [row for _, row in hub.rows(path)] == [row for _, row in hub.rows(path)] == [{"id": 1}]

    other = saved(library, tmp_path / "other", one=[{"id": 2}])
    for file in Path(path).iterdir():
        file.unlink()
    Path(path).rmdir()
    Path(other).rename(path)

    assert [row for _, row in hub.rows(path)] == [{"id": 2}]


def test_a_split_of_several_is_chosen(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "sets", train=[{"id": 1}], test=[{"id": 2}, {"id": 3}])

    assert hub.is_dataset(folder)
    assert list(hub.rows(f"datasets:{folder},split=test")) == [(1, {"id": 2}), (2, {"id": 3})]
    assert list(hub.rows(f"{folder}/train")) == [(1, {"id": 1})]


@pytest.mark.parametrize("prefix", ["", "datasets:"])
def test_of_several_splits_one_must_be_named(library: Any, tmp_path: Path, prefix: str) -> None:
    folder = saved(library, tmp_path / "sets", train=[{"id": 1}], test=[{"id": 2}])

    assert failure_of(prefix + folder) == (
        f"{prefix}{folder}: several splits; there are train, test: write datasets:{folder},split=test"
    )


def test_a_split_that_is_not_there_is_an_error_with_those_that_are(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "sets", train=[{"id": 1}], test=[{"id": 2}])

    assert "no split 'dev'; there are train, test" in failure_of(f"datasets:{folder},split=dev")


def test_the_only_split_needs_no_name(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "sets", test=[{"id": 2}])

    assert first_of(folder) == {"id": 2}


def test_a_saved_dataset_that_is_no_split_has_none(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "set", one=[{"id": 1}])

    assert "no split 'test'" in failure_of(f"datasets:{folder},split=test")
    assert "a saved dataset has no config" in failure_of(f"datasets:{folder},config=raw")


def test_a_selection_of_rows_is_read_in_its_order(library: Any, tmp_path: Path) -> None:
    many = library.Dataset.from_list([{"id": number} for number in range(2500)])
    library.disable_progress_bars()
    many.select(range(2499, -1, -1)).save_to_disk(str(tmp_path / "set"))
    library.enable_progress_bars()

    found = list(hub.rows(str(tmp_path / "set")))

    assert found == [(place, {"id": 2500 - place}) for place in range(1, 2501)]


def test_a_dataset_in_another_format_is_still_rows(library: Any, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    library.disable_progress_bars()
    library.Dataset.from_list([{"id": 1, "scores": [0.5]}]).with_format("numpy").save_to_disk(str(folder))
    library.enable_progress_bars()

    assert list(hub.rows(str(folder))) == [(1, {"id": 1, "scores": [0.5]})]


def test_a_dataset_without_rows_is_an_error_that_says_so(library: Any, tmp_path: Path) -> None:
    folder = str(tmp_path / "set")
    library.disable_progress_bars()
    library.Dataset.from_dict({"id": [], "document": []}).save_to_disk(folder)
    library.enable_progress_bars()

    assert failure_of(folder).endswith("; the library does not open what was saved without rows")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("state.json", b"{"),
        ("state.json", b"[]"),
        ("state.json", b"\xff"),
        ("dataset_info.json", b"{"),
        ("data-00000-of-00001.arrow", b""),
        ("data-00000-of-00001.arrow", b"no arrow at all, whatever it is called"),
    ],
)
def test_a_broken_folder_is_an_error_in_one_sentence(library: Any, tmp_path: Path, file: str, content: bytes) -> None:
    folder = saved(library, tmp_path / "set", one=[MIDAS])
    (Path(folder) / file).write_bytes(content)

    assert failure_of(folder).startswith(f"{folder}: ")


def test_a_cut_off_table_is_an_error_in_one_sentence(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "set", one=[MIDAS] * 3000)
    table = Path(folder) / "data-00000-of-00001.arrow"
    table.write_bytes(table.read_bytes()[: table.stat().st_size // 2])

    assert failure_of(folder).startswith(f"{folder}: ")


def test_a_flipped_bit_in_a_table_is_an_error_or_another_row_but_does_not_end_the_process(
    library: Any, tmp_path: Path
) -> None:
    folder = saved(library, tmp_path / "set", one=[MIDAS])
    table = Path(folder) / "data-00000-of-00001.arrow"
    whole = table.read_bytes()
    refused = 0
    for at in range(len(whole) - 200, len(whole)):  # the values, and where each begins
        table.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        try:
            assert len(list(hub.rows(folder))) == 1
        except InputError:
            refused += 1

    assert 0 < refused < 200


def test_a_long_reason_is_cut(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "set", one=[MIDAS])
    described = Path(folder) / "dataset_info.json"
    described.write_text(described.read_text().replace('"Value"', f'"{"x y; " * 5000}"'))

    assert len(failure_of(folder)) < 600 + len(folder)


# ---------------------------------------------------------------------------------------------- data files and the hub


def test_a_folder_of_data_files_is_read_as_the_library_reads_it(tmp_path: Path) -> None:
    folder = data_files(tmp_path / "files", train=[MIDAS | {"id": 1}], test=[MIDAS, MIDAS | {"id": 8}])

    assert not hub.is_dataset(folder)
    assert [row["id"] for _, row in hub.rows(f"datasets:{folder},split=test")] == [7, 8]
    assert [row["id"] for _, row in hub.rows(f"datasets:{folder},split=test[:1]")] == [7]
    assert [row["id"] for _, row in hub.rows(f"datasets:{folder},split=train+test")] == [1, 7, 8]


def test_a_folder_of_parquet_is_read(library: Any, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    library.disable_progress_bars()
    library.Dataset.from_list([MIDAS]).to_parquet(tmp_path / "files" / "test.parquet")
    library.enable_progress_bars()

    assert first_of(f"datasets:{tmp_path / 'files'}") == MIDAS


def test_data_files_of_several_splits_need_a_split(tmp_path: Path) -> None:
    folder = data_files(tmp_path / "files", train=[{"id": 1}], test=[{"id": 2}])

    assert failure_of(f"datasets:{folder}").endswith(
        f"several splits; there are train, test: write datasets:{folder},split=test"
    )
    assert "['train', 'test']" in failure_of(f"datasets:{folder},split=dev")


def test_a_configuration_must_be_one_that_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    data_files(folder / "raw", test=[{"id": 1}])
    data_files(folder / "extraction", test=[{"id": 2}])
    described = "".join(f"- config_name: {name}\n  data_files: {name}/*.jsonl\n" for name in ("raw", "extraction"))
    (folder / "README.md").write_text(f"---\nconfigs:\n{described}---\n")

    assert first_of(f"datasets:{folder},config=raw") == {"id": 1}
    assert first_of(f"datasets:{folder},config=extraction,split=train") == {"id": 2}
    assert failure_of(f"datasets:{folder}").endswith("['raw', 'extraction']; write config=NAME")
    assert "['raw', 'extraction']" in failure_of(f"datasets:{folder},config=generation")


def test_the_code_of_a_dataset_is_not_run(tmp_path: Path) -> None:
    folder = data_files(tmp_path / "script", test=[{"id": 1}])
    (tmp_path / "script" / "script.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")

    for path in (f"datasets:{folder}", f"datasets:{folder},split=test"):
        assert "revision=refs/convert/parquet" in failure_of(path)
    assert not (tmp_path / "ran").exists()


def test_what_cannot_be_reached_is_an_error_in_one_sentence() -> None:
    for path in ("datasets:midas/inspec", "datasets:midas/inspec,config=raw,split=test,revision=main"):
        message = failure_of(path)
        assert message.startswith(f"{path}: ")
        assert message.endswith("it is neither a folder nor in the cache of the library")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("datasets:", "datasets:: names no dataset; write datasets:OWNER/NAME or datasets:FOLDER"),
        ("datasets:a/b,split=", "datasets:a/b,split=: split names nothing"),
        (
            "datasets:a/b,spilt=test",
            "unknown setting of a dataset 'spilt'; did you mean 'split'? (known: config, revision, split)",
        ),
        # The library would look for JSON files in the folder of the user.
        (
            "datasets:json",
            "datasets:json: there is no such folder, and on the hub a name is OWNER/NAME, as midas/inspec",
        ),
        ("datasets:no/such/folder", "datasets:no/such/folder: there is no such folder, and on the hub"),
        ("datasets:x://y/z", "datasets:x://y/z: there is no such folder, and on the hub"),
        ("datasets:a/b\0", "datasets:a/b�: there is no such folder, and on the hub"),
    ],
)
def test_a_path_that_names_nothing_says_what_to_write(path: str, message: str) -> None:
    assert failure_of(path).startswith(message)


def test_a_file_is_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")

    assert not hub.is_dataset(str(path))
    assert failure_of(f"datasets:{path}") == f"datasets:{path}: is a file; write {path} alone"


def test_an_empty_folder_and_a_broken_file_are_errors_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    folder = data_files(tmp_path / "broken", test=[{"id": 1}])
    with (tmp_path / "broken" / "test.jsonl").open("a") as file:
        file.write('{"id": ')

    assert not hub.is_dataset(str(tmp_path / "empty"))
    assert "doesn't contain any data files" in failure_of(f"datasets:{tmp_path / 'empty'}")
    assert "JSON parse error" in failure_of(f"datasets:{folder}")


def test_a_folder_may_have_commas_and_equals_signs_in_its_name(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "a,split=b", train=[{"id": 1}], test=[{"id": 2}])

    assert first_of(f"datasets:{folder},split=test") == {"id": 2}


def test_the_settings_may_stand_in_any_order() -> None:
    source = hub.parse("datasets:a/b,revision=refs/convert/parquet,split=test,config=raw")

    assert (source.name, source.config, source.split, source.revision) == ("a/b", "raw", "test", "refs/convert/parquet")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("datasets:midas/inspec,config=raw,split=test", "inspec"),
        ("datasets:out/kp20k", "kp20k"),
        ("out/kp20k/", "kp20k"),
        ("datasets:", "datasets:"),
    ],
)
def test_a_dataset_has_a_short_name(path: str, name: str) -> None:
    assert hub.name_of(path) == name


# ---------------------------------------------------------------------------------------------- the library


def test_reading_shows_nothing_and_leaves_the_library_as_it_was(
    library: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = data_files(tmp_path / "files", test=[{"id": 1}])
    broken = data_files(tmp_path / "broken", test=[{"id": 1}])
    (tmp_path / "broken" / "test.jsonl").write_text("{")
    library.enable_progress_bars()
    level = logging.getLogger("datasets").level
    capfd.readouterr()

    assert first_of(f"datasets:{folder}") == {"id": 1}
    failure_of(f"datasets:{broken}")

    assert capfd.readouterr() == ("", "")
    assert not library.are_progress_bars_disabled()
    assert logging.getLogger("datasets").level == level


def test_progress_bars_that_were_off_stay_off(library: Any, tmp_path: Path) -> None:
    folder = saved(library, tmp_path / "set", one=[{"id": 1}])
    library.disable_progress_bars()
    try:
        assert first_of(folder) == {"id": 1}
        assert library.are_progress_bars_disabled()
    finally:
        library.enable_progress_bars()


def test_a_dataset_on_the_hub_is_asked_for_once(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def load(**settings: Any) -> Any:
        asked.append(settings)
        return library.Dataset.from_list([{"id": 1}])

    monkeypatch.setattr(library, "load_dataset", load)
    path = "datasets:some/set,config=raw,split=test,revision=v1"

    assert list(hub.rows(path)) == list(hub.rows(path)) == [(1, {"id": 1})]
    assert asked == [{"path": "some/set", "name": "raw", "split": "test", "revision": "v1", "trust_remote_code": False}]


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'karat\[datasets\]'"):
        list(hub.rows("datasets:some/other"))


def test_the_library_is_not_imported_before_it_is_needed() -> None:
    program = (
        "import sys; from karat.formats import hub; hub.is_dataset('.'); hub.parse('datasets:a/b,split=c');"
        "assert not {'datasets', 'pyarrow', 'huggingface_hub'} & set(sys.modules)"
    )
    folder = str(Path(karat.__file__).parents[1])

    subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": folder}, check=True)


# ---------------------------------------------------------------------------------------------- rows and layouts


def test_rows_are_records_like_those_of_json_lines(library: Any, tmp_path: Path) -> None:
    path = saved(library, tmp_path / "set", one=[MIDAS, MIDAS | {"id": 8, "extractive_keyphrases": None}])
    lines = data_files(tmp_path / "files", test=[row for _, row in hub.rows(path)]) + "/test.jsonl"
    midas = FORMATS[0]
    assert midas.corpus is not None

    assert midas.fits(cast(Head, SimpleNamespace(record=first_of(path))))
    assert [document for batch in midas.corpus(lines)() for document in batch.records()] == [
        Document(id=7, text="Trees grow", keyphrases=["trees"]),
        Document(id=8, text="Trees grow", keyphrases=[]),
    ]

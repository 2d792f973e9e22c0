"""A JSON object that has a key twice is refused in every kind of file, since decoding would keep the last value."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from karat.embed.model import read_model
from karat.errors import InputError
from karat.formats.checksums import checksum_json, verify_json
from karat.formats.json_bytes import check_decoded, repeated_key
from karat.formats.load import decode_entries
from karat.pairs.marian import NEEDED, checked
from tests.annotation.test_label_studio import choice, exported
from tests.annotation.test_sheets import sheets
from tests.embed.test_refused import BERT, directory
from tests.faults.verbs import populate
from tests.forked import command
from tests.formats.test_vocabulary import JSON

TWICE = "an object has the key {!r} twice; keep one of them\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an input of every kind."""
    folder = populate(tmp_path_factory.mktemp("keys"))
    (folder / "insects.jsonld").write_text(JSON)
    (folder / "df.json").write_text('{"--NB_DOC--": 6, "honey bee": 2, "swarm": 1}')
    (folder / "scores.jsonl").write_text('{"prediction": "a", "reference": "b", "score": 1}\n')
    (folder / "figures.json").write_text('[{"system": "a", "metric": "f1@5", "value": 0.5}]')
    done = command(folder, "human", "human.jsonl", "-m", "chrf", "--learn", "weights.json")
    assert done.returncode == 0, done.stderr
    sheets("set", scale="0-4", sample=6, format="label-studio").save(folder / "label-studio")
    exported(folder / "label-studio", lambda data, who: choice("2"))
    return folder


KINDS = [
    # The file, a member to repeat, and a command that reads the file.
    ("kea.json", '"documents": 3', "predict kea,model=kea.json corpus.jsonl"),
    ("model/model.json", '"language": "german"', "plot training model -o out/t.svg"),
    ("model/log.jsonl", '"loss": 1.5', "plot training model -o out/t.svg"),
    ("study/study.json", '"task": "phrase"', "annotate collect study study/ana.json study/ben.json"),
    ("study/ana.json", '"annotator": "ben"', "annotate collect study study/ana.json study/ben.json"),
    ("label-studio/export.json", '"annotations": []', "annotate collect label-studio label-studio/export.json"),
    ("insects.jsonld", '"@graph": []', "vocabulary show insects.jsonld"),
    ("df.json", '"swarm": 5', "predict tfidf corpus.jsonl --df df.json"),
    ("homogeneity.json", '"rows": []', "pairs gather homogeneity.json"),
    ("figures.json", '"value": 0.25', "reproduce corpus.jsonl a.jsonl --reported figures.json --budget 2"),
    ("scores.jsonl", '"score": 0', "nearmiss corpus.jsonl a.jsonl --score file:scores.jsonl"),
    ("weights.json", '"first": 2', "human human.jsonl -m placed:weights.json"),
]


@pytest.mark.parametrize(("name", "member", "line"), KINDS)
def test_a_key_twice_is_refused(files: Path, tmp_path: Path, name: str, member: str, line: str) -> None:
    folder = shutil.copytree(files, tmp_path / "files")
    before = command(folder, *line.split())
    assert before.returncode == 0, before.stderr
    content, checked = verify_json((folder / name).read_bytes(), name)
    content = content.replace(b"{", f"{{{member}, ".encode(), 1)  # the later value, which decoding keeps, is valid
    (folder / name).write_bytes(checksum_json(content) if checked else content)

    done = command(folder, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {name}")
    assert done.stderr.endswith(TWICE.format(member.split('"')[1]))
    assert done.stderr.count("\n") == 1


def test_a_key_twice_in_the_configuration_of_an_encoder_is_refused(tmp_path: Path) -> None:
    place = Path(directory(tmp_path / "encoder", BERT, "model.safetensors"))
    read_model(str(place))
    config = place / "config.json"
    config.write_text(config.read_text().replace("{", '{"num_hidden_layers": 9, "num_hidden_layers": 12, ', 1))
    with pytest.raises(InputError, match=r"config\.json: an object has the key 'num_hidden_layers' twice"):
        read_model(str(place))


def test_a_key_twice_in_the_configuration_of_a_translator_is_refused(tmp_path: Path) -> None:
    for name in NEEDED:
        (tmp_path / name).write_text("{}")
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "marian"}')
    checked(tmp_path)
    config.write_text('{"model_type": "bert", "model_type": "marian"}')
    with pytest.raises(InputError, match=r"config\.json: an object has the key 'model_type' twice"):
        checked(tmp_path)


# ---------------------------------------------------------------------------------------------- counts of keys


class _Card(msgspec.Struct):
    name: str
    counts: dict[str, int] = {}
    steps: int = 0


COUNTS = "".join(f', "p{n}": {n}' for n in range(200))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'{{"a": 1, "b" : 2, "a": 3{COUNTS}}}', dict[str, int]),
        (f'{{"a": 1, "b"  : 2, "a": 3{COUNTS}}}', dict[str, int]),
        (f'{{"model": {{"a": 1, "a": 3{COUNTS}}}, "x": [{{"b": 1}}]}}', Any),
        (f'{{"name": "a", "counts": {{"a": 1{COUNTS}}}, "name": "b"}}', _Card),
        (f'{{"name": "a", "counts": {{"a": 1, "a": 1{COUNTS}}}}}', _Card),
        (f'[{{"name": "a", "counts": {{"a": 1{COUNTS}}}}}, {{"name": "a", "name": "b"}}]', list[_Card]),
        (f'{{"name": "a", "counts": {{"a": 1{COUNTS}}}, "x": {"9" * 5000}, "x": 1}}', _Card),
    ],
)
def test_a_key_twice_beside_many_others_is_refused(text: str, kind: Any) -> None:
    content = text.encode()
    with pytest.raises(InputError, match=r"^x: an object has the key '(a|name|x)' twice; keep one of them$"):
        check_decoded(content, msgspec.json.decode(content, type=kind), "x")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'{{"a :": 1, "b\\":": 2{COUNTS}}}', dict[str, int]),
        (f'{{"counts": {{"a": 1{COUNTS}}}, "name": "counts\\": 1"}}', _Card),
        (
            f'[{{"name": "a", "counts": {{"a": 1{COUNTS}}}}}, {{"name": "a", "steps": 1, "x": {{"name": 1}}}}]',
            list[_Card],
        ),
        ('{"a": {"a": {"a": 1}}}', Any),
    ],
)
def test_equal_keys_of_different_objects_are_read(text: str, kind: Any) -> None:
    content = text.encode()
    assert repeated_key(content) is None
    check_decoded(content, msgspec.json.decode(content, type=kind), "x")


def test_a_document_twice_is_refused_whatever_stands_before_its_colon() -> None:
    with pytest.raises(InputError, match=r"^x: an object has the key 'd1' twice"):
        list(decode_entries(b'{"d1": [], "d1": [], "d2" : []}', list[str], "x", "not a run"))

"""Which model is meant, and what a plug-in may give."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import pytest

from karat.cli import completion
from karat.corpus import Document, Prediction
from karat.errors import InputError
from karat.models import find as finding
from karat.models.base import CommonOptions
from karat.models.find import ModelSpec, as_prediction, parse_model

DOCUMENTS = [Document(id="d1", text="Bees fly."), Document(id="d2", text="Wasps sting.")]


def predictions(model: ModelSpec, common: CommonOptions | None = None) -> list[Prediction]:
    return list(model.find().made(common or CommonOptions())(DOCUMENTS))


def first_words(
    documents: Sequence[Document], n: int = 3, *, upper: bool = False, times: int = 1, mark: Literal["", "!"] = ""
) -> list[list[str]]:
    """The first words of each document."""
    words = [(document.text or "").split()[:n] * times for document in documents]
    return [[(word.upper() if upper else word) + mark for word in each] for each in words]


def test_options_come_behind_the_name_and_become_what_they_are_by_default() -> None:
    found = parse_model(first_words, {"upper": "true", "times": "2"})
    assert predictions(found, CommonOptions(n=1))[0].keyphrases == ["BEES"]  # n is told, and cut to
    assert predictions(found)[0].keyphrases == ["BEES", "FLY."] * 2
    assert found.find().summary == "The first words of each document."
    assert parse_model("kpminer, lasf=2,alpha = 2").options == {"lasf": "2", "alpha": "2"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"uper": "true"}, "unknown option of first_words 'uper'; did you mean 'upper'?"),
        ({"upper": "yes"}, "option upper of first_words is true or false, not 'yes'"),
        ({"times": "two"}, "option times of first_words is a int, not 'two'"),
        ({"mark": "?"}, "unknown mark of first_words '?'"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_model(first_words, options).find()
    assert str(caught.value).startswith(said)


def test_an_option_without_a_default_is_needed_and_others_are_taken_where_the_plug_in_takes_any() -> None:
    def lexicon(documents: Sequence[Document], path: str) -> list[list[str]]:
        return [[path]] * len(documents)

    def anything(documents: Sequence[Document], **options: str) -> list[list[str]]:
        return [sorted(options)] * len(documents)

    with pytest.raises(InputError, match="needs an option path; write lexicon,path=VALUE"):
        parse_model(lexicon).find()
    assert predictions(parse_model(lexicon, {"path": "words.txt"}))[0].keyphrases == ["words.txt"]
    assert predictions(parse_model(anything, {"b": "1", "a": "2"}))[0].keyphrases == ["a", "b"]


def test_unknown_models_and_broken_options_say_what_to_write() -> None:
    with pytest.raises(InputError, match=r"unknown model 'multipartitrank'; did you mean 'multipartiterank'\?"):
        parse_model("multipartitrank").find()
    with pytest.raises(InputError, match=r"'lasf' is no option; write NAME,option=value"):
        parse_model("kpminer,lasf")
    with pytest.raises(InputError, match=r"named module:function or \./module\.py:function"):
        parse_model(":first_words").find()


def test_the_shell_completes_models_and_their_options() -> None:
    context, parameter = click.Context(click.Command("predict")), click.Option(["--any"])
    assert "topicrank" in [item.value for item in completion.models(context, parameter, "topic")]
    assert "kpminer,alpha=2.3" in [item.value for item in completion.models(context, parameter, "kpminer,al")]
    assert completion.models(context, parameter, "nobody,al") == []


@pytest.fixture
def bees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Modules in the current folder."""
    (tmp_path / "bee_models.py").write_text(
        "class Bees:\n    @staticmethod\n    def all(documents):\n"
        "        return [['bees']] * len(documents)\nswarm = 3\n"
    )
    (tmp_path / "bee_broken.py").write_text("import nothing_like_this\n")
    (tmp_path / "bee_wrong.py").write_text("1 / 0\n")
    (tmp_path / "bee_beside.py").write_text("import bee_models\n")
    (tmp_path / "bee_inside.py").write_text("from .bee_models import Bees\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        "./bee_models.py:Bees.all",
        "./bee_inside.py:Bees.all",
        "{}/bee_models.py:Bees.all",
        "../{}/bee_models.py:Bees.all",
    ],
)
def test_a_plug_in_is_loaded_from_a_file_that_is_named_by_its_path(name: str, bees: Path) -> None:
    spec = parse_model(name.format(bees.name if name.startswith("..") else bees))
    assert predictions(spec)[1] == Prediction(id="d2", keyphrases=["bees"])


def test_a_plug_in_without_a_path_is_looked_up_among_installed_packages(
    bees: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    with pytest.raises(InputError) as caught:
        parse_model("bee_models:Bees.all").find()
    assert str(caught.value) == (
        "bee_models:Bees.all: no module 'bee_models' is installed; "
        "to run ./bee_models.py, write ./bee_models.py:FUNCTION"
    )
    packages = tmp_path_factory.mktemp("packages")
    (packages / "bee_models.py").write_text("def f(documents):\n    return [['installed']] * len(documents)\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    try:
        assert predictions(parse_model("bee_models:f"))[0].keyphrases == ["installed"]
    finally:
        sys.modules.pop("bee_models", None)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./bee_models.py:Bess", r"unknown function of ./bee_models.py 'Bess'; did you mean 'Bees'\?"),
        ("./bee_models.py:swarm", "a model is a function from documents to phrases, not int"),
        ("./bee_modles.py:Bees", "there is no file ./bee_modles.py that ends with .py"),
        ("./bee_models:Bees", "there is no file ./bee_models that ends with .py"),
        ("bee_modles:Bees", "bee_modles:Bees: no module 'bee_modles' is installed$"),
        ("bee_models.py:Bees", "to run ./bee_models.py, write ./bee_models.py:FUNCTION"),
        ("./bee_broken.py:f", "the module needs 'nothing_like_this', which is not installed$"),
        (
            "./bee_beside.py:f",
            "'bee_models', which is not installed; to import bee_models.py beside it, write `from . ",
        ),
        ("./bee_wrong.py:f", r"cannot be imported: ZeroDivisionError: division by zero \(bee_wrong.py, line 1\)"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_explained(name: str, said: str, bees: Path) -> None:
    with pytest.raises(InputError, match=said):
        parse_model(name).find()


def test_installed_packages_offer_models_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {"words": f"{__name__}:first_words", "gone": "nothing_like_this:f"}
    found = [EntryPoint(name, value, finding.GROUP) for name, value in points.items()]
    monkeypatch.setattr(finding, "entry_points", lambda group: found)
    monkeypatch.setitem(
        __import__("sys").modules, __name__, __import__("types").SimpleNamespace(first_words=first_words)
    )
    assert predictions(parse_model("words,upper=true"))[1].keyphrases == ["WASPS", "STING."]
    with pytest.raises(InputError, match="the plug-in nothing_like_this:f cannot be loaded: ModuleNotFoundError"):
        parse_model("gone").find()
    with pytest.raises(InputError, match="did you mean 'words'"):
        parse_model("word").find()


@pytest.mark.parametrize(
    "result",
    [
        ["bees", "fly"],
        ("bees", "fly"),
        iter(["bees", "fly"]),
        {"keyphrases": ["bees", "fly"]},
        {"id": "d1", "keyphrases": ["bees", "fly"], "scores": None},
        Prediction(keyphrases=["bees", "fly"]),
    ],
)
def test_a_result_is_phrases_in_any_of_several_forms(result: Any) -> None:
    assert as_prediction(result, DOCUMENTS[0], 10) == Prediction(id="d1", keyphrases=["bees", "fly"])


def test_pairs_have_scores_of_any_number_type_and_are_cut_together() -> None:
    found = as_prediction([("bees", np.float32(0.5)), ["fly", 0]], DOCUMENTS[0], 10)
    assert found == Prediction(id="d1", keyphrases=["bees", "fly"], scores=[0.5, 0.0])
    cut = as_prediction(
        {"keyphrases": ["a", "b"], "scores": [2.0, 1.0], "token_probs": [[0.5], [0.4]]}, DOCUMENTS[0], 1
    )
    assert cut == Prediction(id="d1", keyphrases=["a"], scores=[2.0], token_probs=[[0.5]])


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("bees", "a list of phrases is wanted, not str"),
        (None, "a list of phrases is wanted, not nothing"),
        (["bees", ("fly", 1.0)], "phrases are wanted, or (phrase, score) pairs, one as the other, not 'bees'"),
        ([("bees", "high")], "phrases are wanted, or (phrase, score) pairs"),
        ([1, 2], "phrases are wanted, or (phrase, score) pairs"),
        ([("bees", float("nan"))], "a score or probability is not a finite number"),
        ({"phrases": ["bees"]}, "unknown field of a prediction 'phrases'; did you mean 'keyphrases'?"),
        ({"keyphrases": "bees"}, "this is no prediction: Expected `array | null`, got `str`"),
        ({"id": "d2", "keyphrases": ["bees"]}, "the result is that of document 'd2'"),
    ],
)
def test_a_result_of_another_kind_says_what_is_wanted(result: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        as_prediction(result, DOCUMENTS[0], 10)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([["a"]], "1 results for 2 documents"),
        ([["a"], ["b"], ["c"]], "more than 2 results for 2 documents"),
        (None, "a list with a result for each document, not nothing (None)"),
        ({"d1": ["a"], "d2": ["b"]}, "a list with a result for each document, not dict"),
    ],
)
def test_as_many_results_as_documents_are_wanted(results: Any, said: str) -> None:
    def given(documents: Sequence[Document]) -> Any:
        return results

    with pytest.raises(InputError) as caught:
        predictions(parse_model(given))
    assert said in str(caught.value)


def test_results_may_come_one_by_one() -> None:
    def lazily(documents: Sequence[Document]) -> Iterator[Mapping[str, Any]]:
        for document in documents:
            yield {"keyphrases": [document.text]}

    assert [each.keyphrases for each in predictions(parse_model(lazily))] == [["Bees fly."], ["Wasps sting."]]

"""Every public function has its options as data, and its signature says the same; inputs come in many forms."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import pytest

import karat
from karat.cli import karat as command
from karat.cli.flags import AUTO_BYTES, Verb, flags_of, jobs_for
from karat.cli.shared import Files
from karat.corpus import Document, Prediction
from karat.errors import InputError, KeywordError
from karat.matching.inputs import as_corpora, as_corpus, as_metrics, as_runs
from karat.options import (
    JoinOptions,
    Progress,
    WorkOptions,
    about,
    disagreements,
    flat,
    group,
    option,
    option_fields,
    options_from,
    public,
    required,
)

GOLDEN = Path(__file__).parent / "golden"
CORPUS = GOLDEN / "synthetic.corpus.jsonl"
ALPHA = GOLDEN / "synthetic.alpha.jsonl"

FUNCTIONS = [name for name in karat.__all__ if inspect.isfunction(getattr(karat, name))]
WITHOUT_OPTIONS = {
    "charts_of",
    "cite",
    "collect",
    "figures",
    "gather_homogeneity",
    "limit",
    "load",
    "merge",
    "metric",
    "parse_protocol",
    "prmu",
    "read",
    "read_run",
    "render",
    "write",
    "write_vocabulary",
}
VERBS = [name for name in FUNCTIONS if name not in WITHOUT_OPTIONS]


# ---------------------------------------------------------------------------------------------- public functions


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_explicit_signature(name: str) -> None:
    parameters = inspect.signature(getattr(karat, name)).parameters.values()
    assert [each.name for each in parameters if each.kind is inspect.Parameter.VAR_KEYWORD] == []
    assert [each.name for each in parameters if each.annotation is inspect.Parameter.empty] == []


@pytest.mark.parametrize("name", VERBS)
def test_the_signature_of_a_verb_is_that_of_its_options(name: str) -> None:
    function = getattr(karat, name)
    assert disagreements(function, function.options) == []


@pytest.mark.parametrize("name", VERBS)
def test_options_are_frozen_dataclasses_whose_fields_are_sentences(name: str) -> None:
    kind: Any = getattr(karat, name).options
    assert kind.__dataclass_params__.frozen
    for each in option_fields(kind):
        assert about(each).help[:1].isupper() or about(each).help.startswith("..."), each.name
        assert about(each).help.endswith((".", "...")), each.name
        if about(each).values and each.default is not None and isinstance(each.default, str):
            assert each.default in about(each).values, each.name


@pytest.mark.parametrize("name", VERBS)
def test_a_wrong_keyword_names_the_near_one(name: str) -> None:
    function = getattr(karat, name)
    known = max((each.name for each in option_fields(function.options)), key=len)
    with pytest.raises(KeywordError, match=rf"unknown keyword of {name}\(\) '{known}s'; did you mean '{known}'"):
        function(**{f"{known}s": 1})


# ---------------------------------------------------------------------------------------------- the machinery


@dataclass(frozen=True, slots=True)
class ToyOptions:
    """How `toy` works."""

    size: int = option(2, "How large it is. See the map.", least=1, most=9, metavar="N")
    name: str | None = option(None, "How it is called.", otherwise="its path")
    kind: str = option("a", "Which one it is.", values=("a", "b"), flags=("-k", "--kind"))
    words: tuple[str, ...] = option((), "Some words.", repeatable=True)
    stem: bool = option(True, "Compare words as they are.", flags=("--no-stem",))
    causes: bool = option(True, "Whether to look for causes.")
    loud: bool = option(False, "Say it loudly.")
    hidden: Callable[[int], None] | None = option(None, "Called now and then.", command=False)
    work: WorkOptions = group(WorkOptions)


@public(ToyOptions)
def toy(
    *,
    size: int = 2,
    name: str | None = None,
    kind: str = "a",
    words: tuple[str, ...] = (),
    stem: bool = True,
    causes: bool = True,
    loud: bool = False,
    hidden: Callable[[int], None] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> ToyOptions:
    """The options it is given."""
    return options_from(ToyOptions, locals())


def test_options_are_made_of_flat_names_and_give_them_back() -> None:
    assert toy(size=3, jobs=2) == ToyOptions(size=3, work=WorkOptions(jobs=2))
    assert flat(toy(size=3, jobs=2))["jobs"] == 2
    assert list(flat(ToyOptions())) == [each.name for each in option_fields(ToyOptions)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": 0}, "size is a whole number from 1 to 9, not 0"),
        ({"size": "3"}, "size is a whole number from 1 to 9, not '3'"),
        ({"size": 2.5}, "size is a whole number from 1 to 9, not 2.5"),
        ({"kind": ["a"]}, "unknown value of kind"),
        ({"size": True}, "size is a whole number from 1 to 9, not True"),
        ({"jobs": 0}, "jobs is a whole number from 1 on, not 0"),
        ({"kind": "c"}, "unknown value of kind 'c'"),
        ({"kind": None}, "unknown value of kind 'None'"),
    ],
)
def test_a_value_that_an_option_does_not_have_is_an_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        toy(**given)


def test_disagreements_of_a_signature_and_its_options_are_named() -> None:
    def other(*, size: float = 2, name: str | None = "x", more: int = 1) -> None: ...

    assert disagreements(toy, ToyOptions) == []
    found = disagreements(other, ToyOptions)
    assert "kind is no keyword" in found
    assert "more is no option" in found
    assert "size is float in the signature, int in the options" in found
    assert "name is 'x' in the signature and None in the options" in found


def test_an_option_without_a_default_is_required() -> None:
    @dataclass(frozen=True, slots=True)
    class Options:
        id: str = required("The document.")
        join: JoinOptions = group(JoinOptions)

    assert options_from(Options, {"id": "d1"}).id == "d1"
    with pytest.raises(click.MissingParameter, match="id"):
        click.Command("any", params=list(flags_of(Options))).make_context("any", [])


# ---------------------------------------------------------------------------------------------- flags


def parsed(*arguments: str) -> dict[str, Any]:
    toys = click.Command("toy", params=list(flags_of(ToyOptions)))
    return toys.make_context("toy", list(arguments)).params


def test_flags_have_the_defaults_of_their_options_and_leave_the_command_auto_jobs() -> None:
    assert options_from(ToyOptions, parsed() | {"jobs": 1}) == ToyOptions()
    assert parsed()["jobs"] == "auto"
    assert "hidden" not in parsed()


def test_flags_are_read_by_their_type() -> None:
    given = parsed("--size", "4", "-k", "b", "--words", "x", "--words", "y", "--no-stem", "--no-causes", "--loud")
    assert {name: given[name] for name in ("size", "kind", "words")} == {"size": 4, "kind": "b", "words": ("x", "y")}
    assert (given["stem"], given["causes"], given["loud"]) == (False, False, True)
    assert parsed("-j", "3")["jobs"] == 3
    for wrong in (("--size", "0"), ("--kind", "c"), ("-j", "0"), ("-j", "many")):
        with pytest.raises(click.BadParameter):
            parsed(*wrong)


def test_the_help_of_a_flag_says_its_default_after_the_first_sentence() -> None:
    said = {each.name: each.help for each in flags_of(ToyOptions)}
    assert said["size"] == "How large it is (default 2). See the map."
    assert said["name"] == "How it is called (default: its path)."
    assert said["words"] == "Some words (repeatable)."
    assert said["loud"] == "Say it loudly."


def commands(parent: click.Group = command) -> list[click.Command]:
    found = []
    for each in parent.commands.values():
        found += commands(each) if isinstance(each, click.Group) else [each]
    return found


def test_the_flags_of_a_verb_are_the_options_of_its_function() -> None:
    verbs = [each for each in commands() if isinstance(each, Verb)]
    assert verbs
    for each in verbs:
        options = {one.name for one in option_fields(getattr(karat, each.twin).options) if about(one).command}
        context = click.Context(each, help_option_names=["-h", "--help"])  # click keeps the flag of the help
        assert options <= {one.name for one in each.get_params(context)}, each.name


def test_auto_takes_all_cores_for_large_files_alone() -> None:
    import os

    assert jobs_for("auto", AUTO_BYTES) == 1
    assert jobs_for("auto", AUTO_BYTES + 1) == len(os.sched_getaffinity(0))
    assert jobs_for(3, 0) == 3


def test_auto_goes_by_the_size_of_the_files_that_are_read(tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    large.write_text(f'{{"id": "1", "text": "{"x" * AUTO_BYTES}"}}\n')
    for paths, jobs in (([CORPUS, ALPHA], 1), ([large, ALPHA], jobs_for("auto", 2 * AUTO_BYTES))):
        files = Files.of({"from_": (), "fields": ()})
        files.all(f"named={paths[0]}", [str(paths[1])])
        with files.work({"jobs": "auto", "seed": 1}, quiet=True) as chosen:
            assert chosen == {"jobs": jobs, "seed": 1, "progress": None}


# ---------------------------------------------------------------------------------------------- what is accepted

DOCUMENTS = [
    {"id": "d1", "text": "Deep nets learn.", "keyphrases": ["deep nets"]},
    {"id": "d2", "text": "Trees grow.", "keyphrases": ["trees", "growth"]},
]
PREDICTIONS = [{"id": "d1", "keyphrases": ["deep nets", "ants"]}, {"id": "d2", "keyphrases": ["trees"]}]


def f1(corpus: Any, *runs: Any) -> dict[str, float]:
    return {row["system"]: row["value"] for row in karat.score(corpus, *runs, metrics="f1@M").rows()}


def test_records_of_every_kind_are_a_corpus_and_a_run() -> None:
    expected = f1(karat.Corpus.of(DOCUMENTS), karat.Run.of(PREDICTIONS))
    assert f1(DOCUMENTS, PREDICTIONS) == expected
    structs = [Document(**each) for each in DOCUMENTS], [Prediction(**each) for each in PREDICTIONS]  # type: ignore[arg-type]
    assert f1(*structs) == expected
    assert f1(iter(DOCUMENTS), iter(PREDICTIONS)) == expected


def test_runs_come_one_by_one_in_a_list_or_with_names() -> None:
    assert list(f1(DOCUMENTS, PREDICTIONS, PREDICTIONS)) == ["run", "run2"]
    assert list(f1(DOCUMENTS, [PREDICTIONS, karat.Run.of(PREDICTIONS, "mine")])) == ["run", "mine"]
    assert list(f1(DOCUMENTS, {"a": PREDICTIONS, "b": karat.Run.of(PREDICTIONS, "mine")})) == ["a", "b"]
    assert list(f1(CORPUS, {"t5": ALPHA}, f"again={ALPHA}")) == ["t5", "again"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_a_corpus_and_a_run(library: str) -> None:
    frames = pytest.importorskip(library)
    expected = f1(DOCUMENTS, PREDICTIONS)
    assert f1(frames.DataFrame(DOCUMENTS), frames.DataFrame(PREDICTIONS)) == expected
    joined = [{**each, "keyphrases": ";".join(each["keyphrases"])} for each in PREDICTIONS]
    assert f1(DOCUMENTS, frames.DataFrame(joined)) == expected
    with pytest.raises(InputError, match="no column `keyphrases`; there are id, text"):
        as_corpus(frames.DataFrame([{"id": "d1", "text": "a"}]))


def test_missing_cells_of_a_data_frame_are_missing_values() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([DOCUMENTS[0] | {"title": "Nets"}, DOCUMENTS[1]])
    assert [document.title for document in as_corpus(frame)] == ["Nets", None]


def test_metrics_are_a_text_or_a_list() -> None:
    assert (as_metrics(None), as_metrics("f1@5"), as_metrics(("p@5", "r@5"))) == (None, ["f1@5"], ["p@5", "r@5"])


@pytest.mark.parametrize("given", [3, {"id": "d1"}, [1, 2], karat.Run.of([])])
def test_what_is_no_corpus_is_an_error(given: Any) -> None:
    with pytest.raises(InputError, match="corpus"):
        as_corpus(given)


@pytest.mark.parametrize("given", [3, [[1, 2]], karat.Corpus.of([])])
def test_what_is_no_run_is_an_error(given: Any) -> None:
    with pytest.raises(InputError, match="run"):
        as_runs([given])


def test_two_runs_of_one_name_are_an_error() -> None:
    with pytest.raises(InputError, match=r"two runs are named 'synthetic\.alpha'"):
        as_runs([ALPHA, [ALPHA]])


def test_the_groups_of_options_have_different_names() -> None:
    names = [each.name for kind in (JoinOptions, WorkOptions) for each in fields(kind)]
    assert len(names) == len(set(names))


def test_several_corpora_are_a_dict_or_a_list_each_with_its_runs() -> None:
    listed = [(karat.Corpus.of(DOCUMENTS, name), [PREDICTIONS]) for name in ("a", "b")]
    for given in (listed, dict(listed)):
        found = as_corpora(given)
        assert [(corpus.name, [run.name for run in runs]) for corpus, runs in found] == [("a", ["run"]), ("b", ["run"])]
    [(corpus, [run])] = as_corpora(DOCUMENTS, [PREDICTIONS])
    assert (len(corpus), len(run)) == (2, 2)
    with pytest.raises(InputError, match="several corpora have their runs beside them"):
        as_corpora(listed, [PREDICTIONS])
    with pytest.raises(InputError, match="two corpora are named 'a'"):
        as_corpora([listed[0], listed[0]])


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("compare_corpora", "compare"),
        ("page", "report"),
        ("page_corpora", "report"),
        ("reproduce_corpora", "reproduce"),
    ],
)
def test_names_of_before_still_work_and_warn(name: str, now: str) -> None:
    older = getattr(karat, name)
    assert name not in karat.__all__
    assert (older.options, older.__name__) == (getattr(karat, now).options, name)
    with (
        pytest.warns(DeprecationWarning, match=rf"karat\.{name}\(\) is karat\.{now}\(\) now"),
        pytest.raises(TypeError),
    ):
        older()

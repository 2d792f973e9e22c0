"""What the shell offers after a tab: protocols with their options, metrics, formats, languages, paths.

Each function is given to an option or argument as `shell_complete=`. What it offers can stand as it is, never a piece
such as `f1@`, since zsh puts a space behind whatever it inserts. Everything is imported late: this module is loaded
with every `karat --help`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from glob import escape, glob
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, add_completion_class, split_arg_string

from karat.inert import inert

if TYPE_CHECKING:
    from karat.metrics.base import Metric

CUTOFFS = ("5", "10", "M", "O", "G", "V")


def protocols(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of protocols; after a comma, the options that would change one: `chan2019,pad=none`."""
    from karat.protocol import PRESETS

    name, comma, _ = incomplete.partition(",")
    if not comma:
        return _starting(incomplete, {name: preset.summary for name, preset in PRESETS.items()})
    if name not in PRESETS:
        return []
    given, _, setting = incomplete.rpartition(",")
    changes = _changes(given, PRESETS[name].options(), setting.partition("=")[0])
    return _starting(incomplete, {f"{given},{change}": meaning for change, meaning in changes})


def _changes(given: str, own: Mapping[str, str], begun: str) -> Iterator[tuple[str, str]]:
    """(option=value, what it means) of every value that the protocol does not have, of options not yet given."""
    from karat.protocol import LANGUAGES, option_fields

    done = {setting.partition("=")[0] for setting in given.split(",")[1:]}
    for option, (_, field) in option_fields().items():
        values = dict(field.metadata["values"])
        if field.metadata["free"] == "language" and begun == option:  # thirty more, so only after the whole option
            values |= dict.fromkeys(LANGUAGES, "a language of Snowball")
        for value, meaning in values.items():
            if option not in done and value != own[option]:
                yield f"{option}={value}", f"{field.metadata['summary']}: {meaning}"


def metrics(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Metrics with a cutoff; after `:` the subsets, after `/` the averages, after a comma the options."""
    from karat.matching.columns import SUBSETS
    from karat.metrics.base import METRICS

    mark = next((mark for mark in ",/:" if mark in incomplete), None)  # the furthest part that was begun
    if mark is None:
        offered = {
            text: metric.summary for metric in METRICS.load().values() for text in _cut(metric, "@" in incomplete)
        }
        return _starting(incomplete, offered)
    name = re.split("[@:/,]", incomplete)[0]
    if name not in METRICS:
        return []
    metric = METRICS[name]
    given, _, _ = incomplete.rpartition(mark)
    following = {
        ":": SUBSETS,
        "/": metric.averages,
        ",": [f"{option}={value}" for option, own in metric.defaults.items() for value in _values(option, own)],
    }[mark]
    return _starting(incomplete, dict.fromkeys((f"{given}{mark}{part}" for part in following), ""))


def _values(option: str, own: object) -> Iterator[object]:
    """What can follow `option=`: the names of similarities, or an example."""
    if option != "score":
        yield own
        return
    from karat.similarity import SIMILARITIES

    yield from SIMILARITIES


def similarities(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of similarities of two phrases."""
    from karat.similarity import SIMILARITIES

    return _starting(incomplete, {name: found.summary for name, found in SIMILARITIES.items()})


def relations(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Relations of two phrases; after a comma, one more: `include,part-of`."""
    from karat.similarity.classes import CLASSES

    before, comma, _ = incomplete.rpartition(",")
    return _starting(incomplete, {f"{before}{comma}{name}": text for name, text in CLASSES["relation"].items()})


def _cut(metric: Metric, requested: bool) -> Iterator[str]:
    """The metric's name, if it can stand alone, and with cutoffs, if they are needed or requested."""
    if metric.cutoff != "required":
        yield metric.name
    if metric.cutoff == "required" or (metric.cutoff == "optional" and requested):
        yield from (f"{metric.name}@{cutoff}" for cutoff in CUTOFFS)


def metrics_and_similarities(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Metrics of sets of phrases, and similarities of two phrases."""
    return [*metrics(context, parameter, incomplete), *similarities(context, parameter, incomplete)]


def formats(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of formats; after `corpus:` or `run:` those that hold one."""
    from karat.formats import FORMATS

    role, colon, _ = incomplete.rpartition(":")
    forms = (form for form in FORMATS.values() if not colon or getattr(form, role, None) is not None)
    return _starting(incomplete, {f"{role}{colon}{form.name}": form.summary for form in forms})


def languages(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Languages that can be named."""
    from karat.text.languages import LANGUAGES

    return _starting(incomplete, dict.fromkeys(LANGUAGES, ""))


def models(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of models; after a comma, their options: `kpminer,lasf=3`."""
    from karat.models.find import offered, own_models

    known = own_models()
    name, comma, _ = incomplete.partition(",")
    if not comma:
        theirs = dict.fromkeys(offered(), "a plug-in")
        return _starting(incomplete, {name: model.summary for name, model in known.items()} | theirs)
    given, _, _ = incomplete.rpartition(",")
    options = known[name].options if name in known else {}
    return _starting(incomplete, {f"{given},{option}={value}": "" for option, value in options.items()})


def listed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of what `karat list WHAT` lists."""
    from karat.metrics.base import METRICS

    what = context.params.get("what")
    if what == "metrics":
        return _starting(incomplete, {name: metric.summary for name, metric in METRICS.load().items()})
    known = {"protocols": protocols, "formats": formats, "similarities": similarities, "models": models}
    return known[what](context, parameter, incomplete) if what in known else []


def paths(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, by the shell itself; behind NAME= or PATH+ the files there, but for names that would act on a terminal."""
    found = re.fullmatch(r"(.*[=+])([^=+]*)", incomplete)
    if found is None:
        return [CompletionItem(incomplete, type="file")]
    before, begun = found.groups()
    names = sorted(name + "/" * os.path.isdir(name) for name in glob(escape(begun) + "*"))
    return [CompletionItem(before + name) for name in names if name == inert(name)]


def new_paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files, as `paths` offers them, for what is written: it need not be there."""
    return paths(context, parameter, incomplete)


def embedders(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Embedders: by name, or directories of encoders."""
    return [*_starting(incomplete, {"hash": "", "vectors:": ""}), *paths(context, parameter, incomplete)]


def formats_and_paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of formats, and files."""
    return [*formats(context, parameter, incomplete), *paths(context, parameter, incomplete)]


def _starting(incomplete: str, offered: Mapping[str, str]) -> list[CompletionItem]:
    """What of the offer starts with what was typed, each with what it means."""
    return [
        CompletionItem(value, help=None if ":" in value else text or None)  # zsh takes what follows a colon for help
        for value, text in offered.items()
        if value.startswith(incomplete)
    ]


# ---------------------------------------------------------------------------------------------- shells

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion kind value
    response=$(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r kind value <<< "$completion"
        case $kind in
            file) compopt -o default ;;
            dir) compopt -o dirnames ;;
            plain) COMPREPLY+=("$value") ;;
        esac
        if [[ $value == */ ]]; then compopt -o nospace; fi
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""


@add_completion_class
class Bash(BashComplete):
    """Completion in bash, which parts words at `=`, `:` and `@` and would ask for the last piece alone.

    So the word is taken from the line, and of each completion the pieces that bash leaves in place are left out.
    """

    source_template: ClassVar[str] = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the cursor, and the one at it."""
        line = os.environ.get("COMP_LINE")
        if line is None:
            return super().get_completion_args()
        words = split_arg_string(line)[1:]
        return (words, "") if line[-1:].isspace() or not words else (words[:-1], words[-1])

    def complete(self) -> str:
        """The completions, one a line, without what stands before the last word break."""
        args, incomplete = self.get_completion_args()
        value = incomplete.partition("=")[2] if incomplete.startswith("-") else incomplete
        kept = 1 + max((value.rfind(mark) for mark in os.environ.get("COMP_WORDBREAKS", "")), default=-1)
        return "\n".join(
            f"{item.type},{_behind(item, value[:kept])}" for item in self.get_completions(args, incomplete)
        )


def _behind(item: CompletionItem, kept: str) -> Any:
    return item.value.removeprefix(kept) if item.type == "plain" else item.value


@add_completion_class
class Fish(FishComplete):
    """Completion in fish, of values that hold commas too: click's own script cuts them there."""

    source_template: ClassVar[str] = FishComplete.source_template.replace(
        'string split "," ', 'string split --max 1 "," '
    )

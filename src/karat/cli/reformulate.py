"""karat pairs reformulate, karat pairs filter: documents in other words, and which of them are good enough."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import karat
from karat.cli import completion
from karat.cli.flags import Whole, flag_of, verb
from karat.cli.pairs import pairs_group
from karat.cli.shared import (
    Files,
    check_file,
    combine,
    corpus_argument,
    deliver,
    echo_notes,
    format_option,
    progress,
    quiet_option,
    reading_flags,
    write_out,
)
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.llm.ask import AskProgress
    from karat.llm.client import Endpoint
    from karat.llm.store import Limits
    from karat.pairs.reformulate import Reformulated

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst")

REFORMULATE_EPILOG = """\b
Examples:
  karat pairs reformulate corpus.jsonl -o synonyms.jsonl --pairs pairs.jsonl
  karat pairs reformulate corpus.jsonl --via paraphrase \\
      --base-url http://localhost:8000/v1 --model qwen -o para.jsonl
  karat pairs reformulate corpus.jsonl --via back-translation --pivot es \\
      --max-cost 5 --price-in 2.5 --price-out 10 -o back.jsonl --dry-run
  karat pairs reformulate corpus.jsonl --via marian --forward opus-en-es \\
      --backward opus-es-en -o marian.jsonl --pairs pairs.jsonl
  karat pairs reformulate theses.jsonl --via back-translation \\
      --language french --pivot de --candidates references -o fr.jsonl
  karat pairs reformulate corpus.jsonl --via paraphrase --model qwen \\
      --repeat 5 --temperature 0.7 -o five.jsonl --pairs pairs.jsonl

The endpoint's key is in the environment, KARAT_LLM_KEY, or in a file; never on
the command line. Answers are kept beside the output, in FILE.answers.sqlite:
the same command, run again, goes on where it was.
"""

FILTER_EPILOG = """\b
Examples:
  karat pairs filter corpus.jsonl paraphrases.jsonl
  karat pairs filter corpus.jsonl paraphrases.jsonl --length 0.2 -f json
  karat pairs filter corpus.jsonl paraphrases.jsonl -o kept.jsonl \\
      --pairs pairs.jsonl

The rules are those of Houbre et al. (2025).
"""

endpoint_options = combine(
    click.option(
        "--base-url",
        metavar="URL",
        help="Chat endpoint that speaks OpenAI's protocol, as https://host/v1 (or KARAT_LLM_BASE_URL).",
    ),
    click.option(
        "--key-file",
        metavar="FILE",
        help="File with the endpoint's key (or KARAT_LLM_KEY).",
        shell_complete=completion.paths,
    ),
    click.option("--temperature", type=float, default=0.0, metavar="T", help="Temperature to ask with (default 0)."),
    click.option(
        "--max-tokens",
        type=Whole(1),
        metavar="N",
        help="Ask for answers of at most N tokens; a longer one counts as a failure (default: the endpoint's limit).",
    ),
    click.option(
        "--max-requests",
        type=Whole(0),
        metavar="N",
        help="Stop at N requests, those of earlier runs of this command among them.",
    ),
    click.option(
        "--max-cost", type=float, metavar="COST", help="Stop before the cost exceeds COST, earlier runs included."
    ),
    click.option("--price-in", type=float, default=0.0, metavar="PRICE", help="Of a million tokens of prompts."),
    click.option("--price-out", type=float, default=0.0, metavar="PRICE", help="Of a million tokens of answers."),
    click.option(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="Time for an answer to arrive (default 120)."
    ),
    click.option("--tries", type=Whole(1), default=6, metavar="N", help="Tries for an answer (default 6)."),
    click.option(
        "--delay",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="Before a second try, doubled before each further one (default 1).",
    ),
    click.option("--dry-run", is_flag=True, help="Count requests and tokens, and ask nothing."),
)
ENDPOINT_OPTIONS = (
    "base_url",
    "key_file",
    "temperature",
    "max_tokens",
    "max_requests",
    "max_cost",
    "price_in",
    "price_out",
    "timeout",
    "tries",
    "delay",
    "dry_run",
)
_CHAT = (*ENDPOINT_OPTIONS, "model", "prompt", "concurrency", "language", "candidates", "repeat", "seed")
# Which options a method has, beside those that all have.
_OWN = {
    "paraphrase": _CHAT,
    "back-translation": (*_CHAT, "pivot"),
    "marian": ("forward", "backward"),
    "synonyms": ("share", "seed", "language", "repeat"),
    "order": ("seed", "repeat"),
}


_FIELDS = (
    "name",
    "prompt",
    "language",
    "pivot",
    "candidates",
    "repeat",
    "concurrency",
    "forward",
    "backward",
    "share",
    "seed",
)


@verb("reformulate", epilog=REFORMULATE_EPILOG)
@corpus_argument
@click.option("--model", metavar="NAME", help="Model to ask (or KARAT_LLM_MODEL).")
@endpoint_options
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    help="JSON lines to write: id, source, method, title, text, keyphrases.",
    shell_complete=completion.new_paths,
)
@click.option(
    "--pairs",
    metavar="FILE",
    help="Write the pairs of documents and reformulations to FILE.",
    shell_complete=completion.new_paths,
)
@reading_flags
@quiet_option
def reformulate(corpus: str, via: Any, output: str, pairs: str | None, quiet: bool, **options: Any) -> None:
    """Say the documents of a corpus in other words.

    The outcome is a corpus whose ids are new (d1~paraphrase; of a second
    version d1~paraphrase~2) and which keeps the references. What cannot be
    reformulated is named, the rest is written.
    """
    _check_options(click.get_current_context(), via)
    _check_files(output, pairs)
    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    dry_run = options.pop("dry_run")
    chosen = _chosen(via, output, options)
    if dry_run:
        _forecast(documents, via, chosen)
        return
    by_chat = "endpoint" in chosen
    with requests_progress(quiet or not by_chat) as tell, progress(quiet or by_chat) as done:
        made = karat.reformulate(documents, via, progress=done, tell=tell, **chosen)
    _write(made, output, pairs, quiet)


def _check_options(context: click.Context, via: str) -> None:
    """Raises InputError if an option was given that the method does not have."""
    for name in {name for own in _OWN.values() for name in own} - set(_OWN[via]):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            others = " and ".join(method for method, own in _OWN.items() if name in own)
            raise InputError(f"{flag_of(context, name)} is for --via {others}, not for {via}")


def _check_files(output: str, pairs: str | None) -> None:
    if not output.endswith(SUFFIXES):
        raise InputError(f"-o {output}: reformulations are JSON lines: name a file that ends in .jsonl")
    check_file(output)
    check_file(pairs)


def _chosen(via: str, output: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a method as the library takes them."""
    own = {name: options[name] for name in ("name", *_OWN[via]) if name in _FIELDS}
    if via in ("synonyms", "order"):
        return own
    own["store"] = f"{output}.answers.sqlite"
    if via == "marian":
        return own
    del own["seed"]  # that of the endpoint
    return own | {"endpoint": endpoint_of(options), "limits": limits_of(options)}


def endpoint_of(options: dict[str, Any], **settings: Any) -> Endpoint:
    """The endpoint that the options name, with a seed and a model among them."""
    from karat.llm.client import endpoint

    return endpoint(
        options["base_url"],
        options["model"],
        key_file=options["key_file"],
        first_delay=options["delay"],
        **{name: options[name] for name in ("temperature", "seed", "timeout", "tries", "max_tokens")},
        **settings,
    )


def limits_of(options: dict[str, Any]) -> Limits:
    """The limits of requests and costs that the options set."""
    from karat.llm.store import Limits

    return Limits(options["max_requests"], options["max_cost"], options["price_in"], options["price_out"])


def _forecast(documents: Any, via: str, chosen: dict[str, Any]) -> None:
    from karat.options import options_from
    from karat.pairs.reformulate import ReformulateOptions, forecast

    write_out(karat.render(forecast(documents, options_from(ReformulateOptions, {"via": via, **chosen}))))


def _write(made: Reformulated, output: str, pairs: str | None, quiet: bool) -> None:
    """Writes what there is, says what there is to say, and fails if anything is missing."""
    if len(made):
        made.save(output, pairs)
    if not quiet:
        echo_notes(made.notes)
    complaint = made.complaint()
    if complaint is not None:
        there = f"{len(made):,} reformulations are in {output}" if len(made) else "nothing was written"
        raise InputError(f"{complaint}; {there}; the same command goes on from here")


@contextmanager
def requests_progress(quiet: bool) -> Iterator[Callable[[AskProgress], None] | None]:
    """A function to call with how far the asking has come: a bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} documents{task.fields[said]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, said="", visible=False)

        def tell(state: AskProgress) -> None:
            rate = f", {60 * state.requests / state.seconds:,.0f} requests a minute" if state.seconds > 0 else ""
            cost = f", cost {state.cost:.4g}" if state.cost else ""
            bar.update(task, completed=state.done, total=state.texts, said=rate + cost, visible=True)

        yield tell


@verb("filter_reformulations", name="filter", epilog=FILTER_EPILOG)
@corpus_argument
@click.argument("reformulations", shell_complete=completion.paths)
@reading_flags
@click.option(
    "-o", "--output", metavar="FILE", help="Write what is kept, as JSON lines.", shell_complete=completion.new_paths
)
@click.option("--pairs", metavar="FILE", help="Write the pairs of what is kept.", shell_complete=completion.new_paths)
@format_option
@quiet_option
def filter_(
    corpus: str,
    reformulations: str,
    output: str | None,
    pairs: str | None,
    format_: str | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Keep the reformulations that are good enough.

    Kept is what still has every present reference of its document, in one
    piece or in its words, and about as many words. Shows what is kept, why
    not the rest, and how far it is from the documents.
    """
    if output is not None:
        _check_files(output, pairs)
    check_file(pairs)
    files = Files.of(options)
    documents = files.corpus(corpus)
    files.check()
    files.add(reformulations)
    with files.work(options, quiet) as chosen:
        found = karat.filter_reformulations(documents, reformulations, **chosen)
    if output is not None:
        found.save(output)
    if pairs is not None:
        found.save_pairs(pairs)
    deliver(found, format_, None, quiet)


for command in (reformulate, filter_):
    pairs_group.add_command(command)

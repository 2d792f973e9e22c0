"""What is asked of an endpoint: each thing once, so many at a time, within limits; and what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import karat
from karat.errors import InputError
from karat.llm.ask import IN_A_ROW, AskProgress, question, read_prompt, steps
from karat.llm.client import Endpoint, Key
from karat.llm.store import Limits
from karat.options import options_from
from karat.pairs.reformulate import Method, Reformulated, ReformulateOptions, forecast, reformulate
from tests.pairs.server import Endpoint as Server
from tests.pairs.server import Handler, answer, broken, cut, said, status

SECRET = "sk-4711-very-secret"
WORDS = ("bees", "wasps", "ants", "moths", "flies", "gnats", "lice", "fleas", "mites", "ticks", "bugs", "worms")


def corpus(count: int = 5) -> karat.Corpus:
    return karat.Corpus.of(
        [
            {"id": f"d{n}", "title": f"On {word}", "text": f"How {word} live.", "keyphrases": [word]}
            for n, word in enumerate(WORDS[:count], 1)
        ],
        name="insects",
    )


def text(n: int) -> str:
    return f"On {WORDS[n - 1]}\n\nHow {WORDS[n - 1]} live."


def made(server: Server, tmp_path: Path, via: Method = "paraphrase", count: int = 5, **options: Any) -> Reformulated:
    how: dict[str, Any] = {"tries": 3, "first_delay": 0.001}
    how |= {name: options.pop(name) for name in ("tries", "temperature", "seed", "timeout") if name in options}
    where = Endpoint(server.url, "small", Key(SECRET), **how)
    return reformulate(corpus(count), via, endpoint=where, store=tmp_path / "kept.sqlite", **options)


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    """A prompt that is the text alone."""
    (tmp_path / "echo.txt").write_text("{text}")
    return tmp_path / "echo.txt"


# ---------------------------------------------------------------------------------------------- what is asked


def test_a_paraphrase_is_one_request_a_document(server: Server, tmp_path: Path) -> None:
    server.usual = answer("New title\n\nNew text.")
    found = made(server, tmp_path, concurrency=1)
    own = read_prompt("paraphrase")
    assert server.prompts() == [own.replace("{text}", text(n)) for n in range(1, 6)]
    assert [(each.id, each.source, each.method) for each in found][:2] == [
        ("d1~paraphrase", "d1", "paraphrase"),
        ("d2~paraphrase", "d2", "paraphrase"),
    ]
    assert {(each.title, each.text) for each in found} == {("New title", "New text.")}
    assert [each.keyphrases for each in found] == [[word] for word in WORDS[:5]]
    assert found.pairs()[0] == {"a": "d1", "b": "d1~paraphrase"}
    assert found.complaint() is None


def test_a_back_translation_is_two_requests_the_second_of_what_the_first_gave(server: Server, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("{from} > {to}: {text}")

    def translated(prompt: str) -> str:
        ways, _, body = prompt.partition(": ")
        return body.upper() if ways == "English > German" else body.lower()

    server.usual = answer(translated)
    found = made(server, tmp_path, "back-translation", 2, pivot="de", prompt=tmp_path / "own.txt", concurrency=1)
    assert server.prompts()[:2] == [
        "English > German: On bees\n\nHow bees live.",
        "German > English: ON BEES\n\nHOW BEES LIVE.",
    ]
    assert [(each.id, each.title, each.text) for each in found] == [
        ("d1~back-translation", "on bees", "how bees live."),
        ("d2~back-translation", "on wasps", "how wasps live."),
    ]


def test_what_looks_like_a_place_in_a_text_stays_as_it_is(server: Server, echo: Path, tmp_path: Path) -> None:
    strange = "{text} {0} {to!r} %s \\1 \\g<0>"
    documents = karat.Corpus.of([{"id": "1", "text": strange}])
    server.usual = answer(lambda prompt: prompt)
    [found] = reformulate(documents, "paraphrase", endpoint=Endpoint(server.url, "small"), prompt=echo)
    assert server.prompts() == [strange]
    assert (found.title, found.text) == (None, strange)


def test_equal_texts_are_asked_about_once(server: Server, tmp_path: Path) -> None:
    documents = karat.Corpus.of([{"id": str(n), "text": "The same."} for n in range(8)])
    found = reformulate(documents, "paraphrase", endpoint=Endpoint(server.url, "small"), concurrency=4)
    assert len(server.asked) == 1
    assert len(found) == 8


def test_no_more_requests_are_under_way_than_allowed(server: Server, tmp_path: Path) -> None:
    made(server, tmp_path, count=12, concurrency=3)
    assert 1 <= server.most_at_once <= 3
    assert len(server.asked) == 12


def test_a_question_is_another_when_anything_of_it_is(tmp_path: Path) -> None:
    step, back = steps("paraphrase")[0], steps("back-translation")
    base = Endpoint("http://host", "small")
    (tmp_path / "own.txt").write_text("Other: {text}")
    own = steps("paraphrase", prompt=tmp_path / "own.txt")[0]
    others = [
        question(Endpoint("http://host", "large"), step, "d", "text"),
        question(Endpoint("http://host", "small", temperature=0.5), step, "d", "text"),
        question(Endpoint("http://host", "small", seed=1), step, "d", "text"),
        question(base, own, "d", "text"),
        question(base, back[0], "d", "text"),
        question(base, back[1], "d", "text"),
        question(base, steps("back-translation", "fr")[0], "d", "text"),
        question(base, step, "d", "other text"),
    ]
    same = question(base, step, "d", "text").key
    assert len({same, *(each.key for each in others)}) == 9
    assert question(Endpoint("http://elsewhere", "small", Key("k")), step, "e", "text").key == same


@pytest.mark.parametrize(
    ("via", "content", "lacking"),
    [
        ("paraphrase", "Say it again.", r"\{text\}"),
        ("back-translation", "{text}", r"\{from\} and \{to\}"),
    ],
)
def test_a_prompt_without_its_places_is_refused(via: str, content: str, lacking: str, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(content)
    with pytest.raises(InputError, match=rf"own.txt: the prompt of a {via} must hold {lacking}"):
        read_prompt(via, tmp_path / "own.txt")
    with pytest.raises(InputError, match=r"nothing.txt: the prompt could not be read"):
        read_prompt(via, tmp_path / "nothing.txt")


@pytest.mark.parametrize("pivot", ["en", "English", ""])
def test_the_pivot_is_another_language(pivot: str) -> None:
    with pytest.raises(InputError, match="the pivot of a back-translation is another language"):
        steps("back-translation", pivot)


def test_any_language_can_be_the_pivot() -> None:
    assert [step.name for step in steps("back-translation", "Basque")] == ["English to Basque", "Basque to English"]


# ---------------------------------------------------------------------------------------------- again


def test_what_is_answered_is_not_asked_again(server: Server, tmp_path: Path) -> None:
    first = made(server, tmp_path, count=3)
    again = made(server, tmp_path, count=5)
    assert len(server.asked) == 5
    assert again.records[:3] == first.records
    assert again.notes[0].startswith("2 requests, 5 in all")
    made(server, tmp_path, count=5, seed=1)  # another seed is another question
    assert len(server.asked) == 10


def test_a_back_translation_goes_on_in_its_middle(server: Server, tmp_path: Path) -> None:
    server.script = [answer("uno"), status(401, SECRET)]
    found = made(server, tmp_path, "back-translation", 2, concurrency=1)
    assert len(found) == 0
    assert found.stopped is not None
    server.usual = answer("Eins\n\nZwei")
    assert len(made(server, tmp_path, "back-translation", 2, concurrency=1)) == 2
    assert len(server.asked) == 2 + 3  # the first translation is kept
    assert sum(prompt.endswith("\n\nuno\n") for prompt in server.prompts()[2:]) == 1
    assert not any(text(1) in prompt for prompt in server.prompts()[2:])


# ---------------------------------------------------------------------------------------------- failures


def nonsense_about(word: str) -> Any:
    def reply(handler: Handler) -> None:
        (broken(b"{") if word in handler.prompt else answer())(handler)

    return reply


def test_nonsense_about_one_document_is_named_and_the_others_go_on(server: Server, tmp_path: Path) -> None:
    server.usual = nonsense_about("ants")
    found = made(server, tmp_path)
    assert [each.source for each in found] == ["d1", "d2", "d4", "d5"]
    assert found.failures == (("d3", "the answer is not JSON: '{' (tried 3 times)"),)
    assert found.complaint() == "no reformulation of document 'd3': the answer is not JSON: '{' (tried 3 times)"
    assert len(server.asked) == 4 + 3


def test_trouble_that_passes_loses_nothing(server: Server, tmp_path: Path) -> None:
    server.script = [status(429, "", Retry_After="0"), status(500), cut, broken(b"{}"), broken(said(""))]
    found = made(server, tmp_path, tries=6)
    assert [each.source for each in found] == ["d1", "d2", "d3", "d4", "d5"]
    assert set(server.answered.values()) == {1}


def test_failures_in_a_row_end_the_asking(server: Server, tmp_path: Path) -> None:
    server.usual = status(400, "no")
    found = made(server, tmp_path, count=12, concurrency=1)
    assert len(server.asked) == IN_A_ROW
    assert found.stopped == (
        "10 documents failed one after the other, so the rest was not asked (12 of 12 documents are left)"
    )
    said = found.complaint()
    assert said is not None
    assert said.endswith("no reformulation of document 'd1' (and 9 documents more): the endpoint answers 400: no")


@pytest.mark.parametrize("via", ["paraphrase", "back-translation"])
def test_failures_of_an_earlier_command_come_after_documents_without_a_request(
    server: Server, tmp_path: Path, echo: Path, via: Method
) -> None:
    """Ten answers are cut off each time; of a back-translation, those of the way back."""
    if via == "back-translation":
        echo.write_text("Into {to}, from {from}: {text}")

    def reply(handler: Handler) -> None:
        last = via == "paraphrase" or handler.prompt.startswith("Into English")
        cut_off = last and any(word in handler.prompt for word in WORDS[:IN_A_ROW])
        answer(reason="length" if cut_off else "stop")(handler)

    server.usual = reply
    sources = [[each.source for each in made(server, tmp_path, via, 12, concurrency=1, prompt=echo)] for _ in range(2)]
    assert sources == [[], ["d11", "d12"]]


def test_each_command_begins_with_the_documents_of_the_fewest_requests(
    server: Server, tmp_path: Path, echo: Path
) -> None:
    server.usual = answer(reason="length")
    for _ in range(3):
        made(server, tmp_path, count=12, concurrency=1, prompt=echo)
    order = [*range(1, 11), 11, 12, *range(1, 9), *range(9, 13), *range(1, 7)]
    assert server.prompts() == [text(n) for n in order]


def test_a_refused_key_ends_the_asking_and_is_not_shown(server: Server, tmp_path: Path) -> None:
    server.usual = status(401, f'{{"error": "bad key {SECRET}"}}')
    found = made(server, tmp_path, concurrency=1)
    assert len(server.asked) == 1
    assert found.stopped == (
        "the endpoint answers 401: bad key ***; check the key (KARAT_LLM_KEY) (5 of 5 documents are left)"
    )


def test_the_key_is_not_in_the_store(server: Server, tmp_path: Path) -> None:
    server.script = [status(500, SECRET), answer(f"Your key is {SECRET}!")]
    made(server, tmp_path, concurrency=1)
    held = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"Your key is ***!" in held
    assert b"4711" not in held


# ---------------------------------------------------------------------------------------------- limits


def test_the_asking_stops_at_so_many_requests_and_goes_on_when_more_are_allowed(server: Server, tmp_path: Path) -> None:
    found = made(server, tmp_path, limits=Limits(requests=3), concurrency=2)
    assert len(server.asked) == 3
    assert len(found) == 3
    assert found.stopped == "--max-requests 3 is reached (2 of 5 documents are left)"
    assert len(made(server, tmp_path, limits=Limits(requests=3))) == 3
    assert len(server.asked) == 3
    assert len(made(server, tmp_path, limits=Limits(requests=5))) == 5
    assert len(server.asked) == 5


def test_the_asking_stops_before_the_cost_exceeds_its_limit(server: Server, tmp_path: Path, echo: Path) -> None:
    # An answer costs 10 tokens in at 1 and 20 out at 2 of a million, 50e-6. A request is expected to cost
    # as many tokens as the text has fours of letters, in and out: `On bees\n\nHow bees live.` 24 letters, 6 · 3e-6.
    limits = Limits(cost=130e-6, price_in=1.0, price_out=2.0)
    found = made(server, tmp_path, limits=limits, concurrency=1, prompt=echo)
    assert len(server.asked) == 3  # 0 + 18, 50 + 18 and 100 + 18 are allowed, 150 + 18 are not
    assert found.stopped is not None
    assert found.stopped.startswith("--max-cost 0.00013 is reached: 0.00015 is spent")


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(cost=1.0), "--max-cost needs to know what tokens cost"),
        (Limits(price_in=-1.0), "limits and prices are 0 or more"),
        (Limits(requests=-1), "limits and prices are 0 or more"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: Limits, why: str, server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        made(server, tmp_path, limits=limits)
    assert server.asked == []


def test_an_endpoint_that_does_not_count_tokens_is_said_so(server: Server, tmp_path: Path) -> None:
    server.usual = answer("x", usage=None)
    assert "some of the tokens are an estimate" in made(server, tmp_path).notes[0]


def test_an_endpoint_that_counts_tokens_is_believed(server: Server, tmp_path: Path) -> None:
    notes = made(server, tmp_path, limits=Limits(price_in=1.0, price_out=2.0)).notes
    assert notes[0] == "5 requests, 5 in all with 50 tokens in, 100 out, cost 0.00025"


def test_progress_is_told_text_by_text(server: Server, tmp_path: Path) -> None:
    states: list[AskProgress] = []
    made(server, tmp_path, tell=states.append, limits=Limits(price_in=1.0, price_out=2.0), concurrency=1)
    assert [(each.done, each.texts, each.requests) for each in states] == [(n, 5, n) for n in range(1, 6)]
    assert [each.cost for each in states] == pytest.approx([n * 50e-6 for n in range(1, 6)])


# ---------------------------------------------------------------------------------------------- a forecast


def test_a_forecast_counts_and_asks_nothing(server: Server, tmp_path: Path, echo: Path) -> None:
    where = Endpoint(server.url, "small", Key(SECRET), first_delay=0.001)
    options: dict[str, Any] = {
        "endpoint": where,
        "store": tmp_path / "kept.sqlite",
        "prompt": echo,
        "limits": Limits(price_in=1.0, price_out=2.0),
    }
    found = forecast(corpus(2), options_from(ReformulateOptions, {"via": "paraphrase", **options}))
    # 24 and 26 letters are 6 and 7 tokens, as much in as out.
    assert (found.documents, found.requests, found.answered) == (2, 2, 0)
    assert (found.usage.tokens_in, found.usage.tokens_out, found.usage.estimated) == (13, 13, True)
    assert found.cost == pytest.approx(13e-6 + 26e-6)
    assert server.asked == []
    assert not (tmp_path / "kept.sqlite").exists()
    reformulate(corpus(1), "paraphrase", **options)
    again = forecast(corpus(2), options_from(ReformulateOptions, {"via": "paraphrase", **options}))
    assert (again.requests, again.answered, again.usage.tokens_in) == (2, 1, 7)


def test_a_forecast_of_a_back_translation_counts_both_ways(server: Server) -> None:
    found = forecast(corpus(3), ReformulateOptions(via="back-translation", endpoint=Endpoint(server.url, "small")))
    assert (found.requests, found.answered) == (6, 0)
    assert found.cost is None


def test_only_what_is_asked_of_an_endpoint_can_be_forecast() -> None:
    with pytest.raises(InputError, match="only what is asked of an endpoint can be counted before"):
        forecast(corpus(), ReformulateOptions(via="synonyms"))

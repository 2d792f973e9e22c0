"""Keyphrases from a chat endpoint: what is asked, what the answers say, what is kept and what it costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.corpus import Corpus
from karat.errors import InputError
from karat.llm.client import endpoint
from karat.llm.store import Limits
from karat.models.find import parse_model
from karat.models.prompt import Asking, parse, token_logprobs
from karat.models.run import Predicted, PredictOptions, forecast, predicted
from tests.pairs.server import Endpoint, Handler, Reply, answer, broken, serving, status

CORPUS = Corpus.of(
    [
        {"id": "d1", "title": "On bees", "text": "Bees dance. {n} of them."},
        {"id": "d2", "text": " "},
        {"id": "d3", "text": "Wasps sting."},
        {"id": "d4", "sentences": [[["Ants", "NNS"], ["walk", "VBP"]]]},
        {"id": "d5", "text": "Wasps sting."},
    ],
    "insects",
)


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture(autouse=True)
def anew(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KARAT_LLM_BASE_URL", "KARAT_LLM_MODEL", "KARAT_LLM_KEY"):
        monkeypatch.delenv(name, raising=False)
    server.asked.clear()
    server.script.clear()
    server.usual = answer("1. bee dance\n2. hive")


def asking(server: Endpoint, logprobs: bool = False, tries: int = 1, **options: Any) -> Asking:
    asked = endpoint(server.url, "small", first_delay=0.0, tries=tries, logprobs=logprobs)
    return Asking(asked, **{"concurrency": 1} | options)


def said(found: Asking, n: int = 10, output: str | None = None) -> Predicted:
    return predicted(CORPUS, parse_model("llm:small"), PredictOptions(n=n, asking=found), output=output)


# ---------------------------------------------------------------------------------------------- asking


def test_each_text_is_asked_for_once_and_documents_come_in_order(server: Endpoint, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    found = said(asking(server, store=tmp_path / "answers.sqlite"), output=str(run))
    assert found.failure is None
    assert len(server.asked) == 3
    assert [json.loads(line) for line in run.read_text().splitlines()] == [
        {"id": f"d{n}", "keyphrases": [] if n == 2 else ["bee dance", "hive"]} for n in range(1, 6)
    ]
    assert found.notes == (
        "3 requests, 3 in all with 30 tokens in, 60 out",
        "1 document has no text, so that nothing is predicted (first document 'd2')",
    )
    again = said(asking(server, store=tmp_path / "answers.sqlite"))
    assert (again.entries, len(server.asked)) == (found.entries, 3)
    assert said(asking(server, store=tmp_path / "answers.sqlite"), n=1).entries[0].prediction.keyphrases == [
        "bee dance"
    ]
    assert len(server.asked) == 6  # another number of phrases is another question


def test_the_prompt_holds_the_text_the_number_and_examples(server: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(
        '{"id": "t0", "text": "no phrases"}\n'
        '{"id": "t1", "title": "Moths", "text": "fly", "keyphrases": ["moth", ["a", "b"]]}\n'
    )
    said(asking(server), n=7)
    assert "the 7 keyphrases" in server.prompts()[0]
    assert "in English" in server.prompts()[0]
    assert server.prompts()[0].endswith("\n\nText:\nOn bees\n\nBees dance. {n} of them.\n\nKeyphrases:\n")
    (tmp_path / "own.txt").write_text("{examples}Now {n}: {text}")
    said(asking(server, prompt=tmp_path / "own.txt", shots=f"{tmp_path}/train.jsonl:1"), n=2)
    assert server.prompts()[-1] == "Text:\nMoths\n\nfly\n\nKeyphrases:\nmoth\na\n\nNow 2: Ants walk"


def test_wrong_prompts_and_examples_say_what_to_write(server: Endpoint, tmp_path: Path) -> None:
    (tmp_path / "bare.txt").write_text("Give phrases.")
    (tmp_path / "plain.txt").write_text("Phrases of {text}")
    (tmp_path / "train.jsonl").write_text('{"id": "t1", "text": "fly", "keyphrases": ["moth"]}\n')
    for options, why in (
        ({"prompt": tmp_path / "bare.txt"}, r"prompt of a prediction must hold \{text\}"),
        ({"prompt": tmp_path / "plain.txt", "shots": f"{tmp_path}/train.jsonl:1"}, r"must hold \{examples\}"),
        ({"shots": f"{tmp_path}/train.jsonl:2"}, "it has no more than 1 document with a text and keyphrases"),
        ({"shots": f"{tmp_path}/train.jsonl"}, "write a corpus and how many of its documents, as train.jsonl:3"),
        ({"limits": Limits(cost=1.0)}, "--max-cost needs to know what tokens cost"),
    ):
        with pytest.raises(InputError, match=why):
            said(asking(server, **options))
    with pytest.raises(InputError, match="a language model has no options of its own"):
        predicted(CORPUS, parse_model("llm:small,top=3"), PredictOptions(asking=asking(server)))
    with pytest.raises(InputError, match="needs an endpoint"):
        karat.predict(CORPUS, "llm:small")
    assert server.asked == []


def test_a_document_without_an_answer_is_named_and_the_others_are_written(server: Endpoint, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    server.script = [status(400, "too long")]
    found = said(asking(server, store=tmp_path / "a.sqlite"), output=str(run))
    assert found.failure == (
        "no keyphrases of document 'd1': the endpoint answers 400: too long; "
        f"{run} has 4 predictions; the same command goes on from here"
    )
    assert karat.read_run(run).ids == ["d2", "d3", "d4", "d5"]
    assert said(asking(server, store=tmp_path / "a.sqlite"), output=str(run)).failure is None
    assert (len(server.asked), karat.read_run(run).ids) == (4, CORPUS.ids)


def test_limits_hold_and_a_forecast_asks_nothing(server: Endpoint, tmp_path: Path) -> None:
    limited = asking(server, store=tmp_path / "a.sqlite", limits=Limits(requests=2))
    assert said(limited).failure == (
        "--max-requests 2 is reached (1 of 3 texts are left); the same command goes on from here"
    )
    assert len(server.asked) == 2
    priced = asking(server, store=tmp_path / "a.sqlite", limits=Limits(price_out=1e6))
    counted = forecast(CORPUS, parse_model("llm:small"), PredictOptions(n=4, asking=priced))
    assert (counted.requests, counted.answered, counted.usage.tokens_out, counted.cost) == (3, 0, 60, 60.0)
    counted = forecast(CORPUS, parse_model("llm:small"), PredictOptions(asking=priced))
    assert (counted.requests, counted.answered) == (3, 2)
    assert len(server.asked) == 2


# ---------------------------------------------------------------------------------------------- probabilities


def with_logprobs(tokens: list[tuple[str, float]]) -> Reply:
    content = "".join(token for token, _ in tokens)
    told = {"content": [{"token": token, "logprob": value, "bytes": None} for token, value in tokens]}
    choice = {"message": {"content": content}, "finish_reason": "stop", "logprobs": told}
    return broken(json.dumps({"choices": [choice]}).encode())


def test_log_probabilities_of_tokens_are_kept_and_told_of_their_phrases(server: Endpoint, tmp_path: Path) -> None:
    tokens = [
        ("<think>bee</think>", -9.0),
        ("1. ", -0.5),
        ("bee", -1.0),
        (" dance", -2.0),
        ("\n2. ", -0.25),
        ("hive", -3.0),
    ]
    server.usual = with_logprobs(tokens)
    for _ in range(2):  # the second time from the store
        found = said(asking(server, logprobs=True, store=tmp_path / "a.sqlite")).entries[0].prediction
        assert (found.keyphrases, found.token_logprobs) == (["bee dance", "hive"], [[-1.0, -2.0], [-3.0]])
    assert len(server.asked) == 3
    assert all(asked["logprobs"] is True for asked in server.asked)


def test_an_endpoint_that_minds_is_asked_without_them(server: Endpoint) -> None:
    def minding(handler: Handler) -> None:
        if "logprobs" in handler.endpoint.asked[-1]:
            handler.send(400, b'{"error": {"message": "logprobs are not supported"}}')
        else:
            answer("bees; hive")(handler)

    server.usual = minding
    found = said(asking(server, logprobs=True, tries=2))
    assert found.failure is None
    assert found.entries[0].prediction.token_logprobs is None
    assert ["logprobs" in asked for asked in server.asked] == [True, False, False, False]


def test_phrases_that_are_not_found_among_the_tokens_have_no_probabilities() -> None:
    assert token_logprobs(["a", "x"], "a, b", [("a", -1.0), (", b", -2.0)]) == [[-1.0], None]
    assert token_logprobs(["a"], "a", []) is None
    assert token_logprobs(["a"], "a", [("other", -1.0)]) is None


# ---------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("deep learning\nneural nets", ["deep learning", "neural nets"]),
        ("1. deep learning\n2) neural nets\n(3) trees", ["deep learning", "neural nets", "trees"]),
        ("- deep learning\n• neural nets\n* trees\n", ["deep learning", "neural nets", "trees"]),
        ("Here is what I found:\n\n1. deep learning\n2. nets\n\nI hope this helps!", ["deep learning", "nets"]),
        ("**Keyphrases:**\n- **deep learning** – a method\n- `nets`", ["deep learning", "nets"]),
        ("deep learning, neural nets, and trees.", ["deep learning", "neural nets", "trees"]),
        ("Keyphrases: deep learning; nets, wide; trees", ["deep learning", "nets, wide", "trees"]),
        ("1. deep learning 2. neural nets 3. trees", ["deep learning", "neural nets", "trees"]),
        ('["deep learning", "nets"]', ["deep learning", "nets"]),
        (
            'Sure! {"keyphrases": [{"phrase": "deep learning", "score": 1}, {"phrase": "nets"}]}',
            ["deep learning", "nets"],
        ),
        ('```\n[["deep learning", 0.9], ["nets", 0.1]]\n```\nDone.', ["deep learning", "nets"]),
        ("nets\nNets\nNETS", ["nets"]),
        ("k-means [1]\nC++ [2]", ["k-means [1]", "C++ [2]"]),
        ("deep learning", ["deep learning"]),
        ("[]", []),
        ("...", []),
    ],
)
def test_phrases_are_read_from_answers_of_many_forms(text: str, phrases: list[str]) -> None:
    assert parse(text) == phrases


@settings(max_examples=15, deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{2,6}( [a-z]{2,6}){0,2}", fullmatch=True), min_size=2, max_size=6, unique=True))
def test_a_list_reads_alike_however_it_is_written(phrases: list[str]) -> None:
    lines = ["\n".join(f"{mark}{p}" for p in phrases) for mark in ("", "- ", "* ", "• ")]
    numbered = "\n".join(f"{n}. {p}" for n, p in enumerate(phrases, 1))
    for text in (*lines, numbered, "; ".join(phrases), ", ".join(phrases), json.dumps(phrases)):
        assert parse(text) == phrases


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_no_answer_is_too_strange(text: str) -> None:
    found = parse(text)
    assert all(phrase and phrase == phrase.strip() for phrase in found)
    assert len({phrase.casefold() for phrase in found}) == len(found)

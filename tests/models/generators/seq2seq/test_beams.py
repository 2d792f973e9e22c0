"""Greedy and beam search give what `generate` of transformers gives, token for token."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.neural

import torch  # noqa: E402

from karat.corpus import Document  # noqa: E402
from karat.models.generators.seq2seq import families  # noqa: E402
from karat.models.generators.seq2seq.beams import Cached, Search, search  # noqa: E402
from karat.models.generators.seq2seq.directory import Pretrained  # noqa: E402
from karat.models.generators.seq2seq.network import padded  # noqa: E402
from karat.models.generators.seq2seq.settings import Seq2SeqLearning, Seq2SeqShape  # noqa: E402
from karat.models.generators.seq2seq.texts import Language  # noqa: E402
from tests.models.generators.made import TOPICS  # noqa: E402
from tests.models.generators.seq2seq.made import KINDS, far, network_of, tokenizer_of  # noqa: E402

LONGEST = 16
MANY = [
    Document(
        title=f"On {TOPICS[n % 16]} of {TOPICS[n * 7 % 16]}", text=" ".join(TOPICS[n * k % 16] for k in range(n % 23))
    )
    for n in range(200)
]
SEARCHES = [
    Search(1, LONGEST),
    Search(1, LONGEST, ngram=2),
    Search(4, LONGEST),
    Search(4, LONGEST, penalty=0.0),
    Search(5, LONGEST, penalty=2.0, early=True),
    Search(3, LONGEST, penalty=0.6, early="never"),
    Search(6, LONGEST, penalty=-0.5, ngram=2),
    Search(20, LONGEST),
]


@pytest.fixture(scope="module", params=KINDS)
def found(request: pytest.FixtureRequest) -> Pretrained:
    torch.set_num_threads(1)
    tokenizer = tokenizer_of(request.param)
    # in double precision two ways of adding up differ too little to change which token is the best
    return Pretrained(far(network_of(request.param, len(tokenizer))).double(), tokenizer)


def given(found: Pretrained, documents: list[Document]) -> tuple[torch.Tensor, torch.Tensor]:
    language = Language.of(found, Seq2SeqShape(), Seq2SeqLearning())
    ids, mask = padded(language.sources(documents)[0], found.pad)  # type: ignore[arg-type]
    return torch.from_numpy(ids), torch.from_numpy(mask).long()


def generated(found: Pretrained, source: Any, mask: Any, how: Search) -> list[list[list[int]]]:
    """What `generate` gives, without the start and what stands behind the end."""
    wide = {"length_penalty": how.penalty, "early_stopping": how.early} if how.beam > 1 else {}
    with torch.no_grad():
        sequences = found.network.generate(
            input_ids=source,
            attention_mask=mask,
            num_beams=how.beam,
            num_return_sequences=how.beam,
            do_sample=False,
            max_new_tokens=how.longest,
            no_repeat_ngram_size=how.ngram,
            **wide,
        )
    end = found.network.config.eos_token_id
    rows = [row[: row.index(end) + 1] if end in row else row for row in sequences[:, 1:].tolist()]
    return [rows[at : at + how.beam] for at in range(0, len(rows), how.beam)]


@pytest.mark.parametrize("how", SEARCHES, ids=str)
def test_beams_are_those_of_generate(found: Pretrained, how: Search) -> None:
    source, mask = given(found, MANY if how == SEARCHES[2] else MANY[::6])
    wanted = generated(found, source, mask, how)
    made = families.steps_of(found.network)
    for steps in (made(source, mask), Cached(found.network, source, mask)):
        ours = search(steps, len(source), found.marks(), how, source.device)
        assert [[each.tokens for each in some] for some in ours] == wanted
    lengths = {len(row) for some in wanted for row in some}
    assert len(lengths) > 1  # some end by themselves
    assert made(source, mask).__class__ is families.Fast


def test_a_sequence_has_the_log_probabilities_of_teacher_forcing(found: Pretrained) -> None:
    source, mask = given(found, MANY[3:9])
    marks = found.marks()
    for row, some in enumerate(
        search(families.steps_of(found.network)(source, mask), 6, marks, Search(3, LONGEST), source.device)
    ):
        for each in some:
            before = torch.tensor([[marks.start, *each.tokens[:-1]]])
            with torch.no_grad():
                logits = found.network(
                    input_ids=source[row : row + 1], attention_mask=mask[row : row + 1], decoder_input_ids=before
                ).logits
            logs = logits.log_softmax(2)[0].gather(1, torch.tensor(each.tokens)[:, None])[:, 0].tolist()
            for at, (log, token) in enumerate(zip(each.logs, each.tokens, strict=True)):
                forced = {0: marks.first, LONGEST - 1: marks.last}.get(at)
                assert log == pytest.approx(0.0 if token == forced else logs[at], abs=1e-4)


def test_padding_and_the_others_of_a_batch_change_nothing(found: Pretrained) -> None:
    source, mask = given(found, MANY[10:30])
    made = families.steps_of(found.network)
    together = search(made(source, mask), 20, found.marks(), Search(3, LONGEST), source.device)
    for row in (0, 7, 19):
        there = int(mask[row].sum())
        [alone] = search(
            made(source[row : row + 1, :there], mask[row : row + 1, :there]),
            1,
            found.marks(),
            Search(3, LONGEST),
            source.device,
        )
        assert [each.tokens for each in alone] == [each.tokens for each in together[row]]
        assert [each.score for each in alone] == pytest.approx([each.score for each in together[row]], abs=1e-5)


def test_a_family_whose_code_has_changed_is_not_taken(found: Pretrained, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of transformers with another mathematics is decoded by its own code."""
    kind = type(found.network).__name__
    monkeypatch.setitem(families.FAMILIES, kind, _Other.of(families.FAMILIES[kind]))
    source, mask = given(found, MANY[:4])
    assert isinstance(families.steps_of(found.network)(source, mask), Cached)


class _Other:
    @staticmethod
    def of(make: Any) -> Any:
        def other(network: Any) -> Any:
            decoder = make(network)
            whole = decoder.logits
            decoder.logits = lambda states: whole(2 * states + 1)
            return decoder

        return other

"""60p: examples that are composed of two documents that share keyphrases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

import karat
from karat import Corpus, InputError
from karat.corpus import Document
from karat.models.generators.composing import MOST, composed, forms
from karat.models.generators.words import Stems

PHRASES = ["deep nets", "trees", "graph theory", "bees", "flows", "cuts", "Deep Net", "tree"]


def made(count: int, phrases: Sequence[str] = PHRASES) -> list[Document]:
    draw = random.Random(4)
    return [
        Document(
            id=f"d{n}",
            title=f"title {n}" if n % 9 else None,
            text=f"text {n}" if n % 11 else "",
            keyphrases=[draw.choice(phrases) for _ in range(draw.randint(0, 5))],
        )
        for n in range(count)
    ]


def all_partners(documents: Sequence[Document]) -> dict[int, list[tuple[float, int]]]:
    """(how alike, partner) of each document, by comparing it with all others."""
    stems = Stems("english")
    sets = [set(forms(document, stems)) for document in documents]
    return {
        a: [
            (len(left & right) / max(len(left), len(right)), b)
            for b, right in enumerate(sets)
            if a != b and left and right and 5 * len(left & right) >= 3 * max(len(left), len(right))
        ]
        for a, left in enumerate(sets)
    }


def check(documents: Sequence[Document]) -> int:
    """Compares what is composed with what comparing all gives; gives how many have more partners than are taken."""
    stems = Stems("english")
    by_id = {document.id: at for at, document in enumerate(documents)}
    titled = [at for at, document in enumerate(documents) if document.title]
    by_title = {documents[at].title: at for at in titled}
    assert len(by_title) == len(titled)
    found: dict[int, list[int]] = {}
    for each in composed(documents, "english", 0):
        a, b = by_title[each.title], by_id[each.id]
        found.setdefault(a, []).append(b)
        assert each.text == documents[b].text
        assert set(forms(each, stems)) == set(forms(documents[a], stems)) & set(forms(documents[b], stems))
        assert each.keyphrases == [
            phrase for phrase in documents[b].keyphrases or () if phrase in (each.keyphrases or ())
        ]
    more = 0
    for a, partners in all_partners(documents).items():
        scores = {b: score for score, b in partners}
        chosen = found.get(a, [])
        assert len(set(chosen)) == len(chosen)
        assert all(b in scores for b in chosen)
        least = sorted(scores.values(), reverse=True)[:MOST][-1] if partners else 0.0
        sure = [b for b in scores if scores[b] > least or len(partners) <= MOST]
        if documents[a].title:
            assert {b for b in sure if documents[b].text} <= set(chosen)
            assert all(scores[b] >= least for b in chosen)
            textless = sum(not documents[b].text for b in scores)
            assert min(len(partners), MOST) - textless <= len(chosen) <= min(len(partners), MOST)
            more += len(partners) > MOST
        else:
            assert not chosen
    return more


def test_partners_are_those_that_comparing_all_finds() -> None:
    assert check(made(60)) > 0
    assert check(made(12)) >= 0
    assert check([]) == 0


def test_partners_of_2000_documents_are_those_that_comparing_all_finds() -> None:
    assert check(made(2000, [*PHRASES, *(f"{one} {other}" for one in "abcdefgh" for other in "stuvwxyz")])) > 0


def test_a_title_and_another_text_have_what_both_share() -> None:
    one = Document(id="a", title="A", text="of a", keyphrases=["deep nets", "bees", "trees"])
    other = Document(id="b", title="B", text="of b", keyphrases=["Tree", "deep net", "flows"])
    found = list(composed([one, other], "english", 0))
    assert found[0] == Document(id="b", title="A", text="of b", keyphrases=["Tree", "deep net"])
    assert found[1] == Document(id="a", title="B", text="of a", keyphrases=["deep nets", "trees"])
    assert not list(composed([one, Document(id="c", title="C", text="c", keyphrases=["bees"])], "english", 0))


def test_the_same_seed_composes_the_same() -> None:
    documents = made(60)
    assert list(composed(documents, "english", 1)) == list(composed(documents, "english", 1))
    assert list(composed(documents, "english", 1)) != list(composed(documents, "english", 2))


@pytest.mark.neural
def test_a_training_learns_from_composed_examples(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from karat.models.generators import checkpoint
    from karat.models.generators.examples import Examples

    torch.set_num_threads(1)
    model = "transformer,size=8,heads=2,inner=16,layers=1"
    corpus, folder = Corpus.of(made(30)), tmp_path / "m"
    found = karat.train(corpus, model, output=folder, steps=2, batch=4, augment="60p", drop="add")
    many = len(list(composed(made(30), "english", 0)))
    assert f"{many} examples were composed of a title and the text of another document" in found.notes
    card = checkpoint.read_card(folder)
    assert (card.corpus["composed"], card.settings["augment"]) == (many, "60p")
    assert len(Examples(folder / "examples.i32", checkpoint.read_words(folder).written)) == card.corpus["documents"]
    with pytest.raises(InputError, match=r"another augment \(60p, not None\)"):
        karat.train(corpus, model, output=folder, steps=2, batch=4, drop="add", resume=True)
    with pytest.raises(InputError, match="--augment is 60p, not 50p"):
        karat.train(corpus, model, output=tmp_path / "n", steps=2, augment="50p")
    alone = karat.train(Corpus.of(made(1) + made(3)[2:]), model, output=tmp_path / "o", steps=1, augment="60p")
    assert any("no example was composed" in note for note in alone.notes)

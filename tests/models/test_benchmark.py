"""The benchmark of extractors goes through what it says it does."""

from __future__ import annotations

from pathlib import Path

from benchmarks import predict
from benchmarks.made_corpus import write_corpus


def test_documents_are_given_raw_tagged_and_as_one_long_text(tmp_path: Path) -> None:
    corpus = str(write_corpus(tmp_path, documents=6, seed=0).corpus)

    raw, tagged = predict.raw(corpus, 4), predict.tagged(corpus, 4)
    assert [each.id for each in raw] == [each.id for each in tagged]
    assert all(each.text and each.sentences is None for each in raw)
    assert all(each.sentences and each.text is None for each in tagged)
    [long] = predict.long(corpus, 500)
    assert len((long.text or "").split()) == 500
    for documents in (raw, tagged, [long]):
        found = list(predict.loaded("tfidf")(documents))
        assert [each.id for each in found] == [each.id for each in documents]
        assert all(each.keyphrases for each in found)

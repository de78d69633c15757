"""Real model types of `transformers`, built small with random weights."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

#: The model types that are verified on every backend; `docs/models.md` shows how closely.
NAMES = (
    "bert", "roberta", "distilbert", "electra", "albert", "gpt2", "llama", "mistral", "mixtral",
    "qwen2", "gemma", "opt", "bloom", "t5", "bart", "vit", "deit", "beit", "resnet", "convnext",
    "swin", "mobilenet_v2", "regnet", "segformer", "wav2vec2",
)  # fmt: skip

#: Seeds of weights and inputs; 0 for the others. The derivative of a rectified linear unit
#: jumps at zero, and of millions of units one may stand so close to it that rounding decides:
#: at seed 0 torch's own gradient in float32 is 2e-2 (resnet) and 6e-4 (regnet) from torch's in
#: float64, at most seeds, this one too, 3e-6. A gradient is compared where torch has one.
_SEEDS = {"resnet": 1, "regnet": 1}

#: Inputs that are others than the record's. Of an image of 1024 by 1024, max pooling compares
#: millions of numbers, some of which are equal but for rounding, which then decides where the
#: gradient goes: all outputs agree, but of 154 gradients two are 4e-3 from torch's, those of
#: the weights before a pooling.
_INPUTS = {"sam2_hiera_det_model": {"pixel_values": ["float", [2, 3, 128, 128]]}}

#: Models that run without a cache only when no layer is one of attention, and none of the two
#: of a small model is; transformers says "`get_seq_length` can only be called on Attention
#: layers, and the current Cache seem to only contain LinearAttention layers".
_WITHOUT_CACHE = ("bailing_hybrid", "lfm3", "recurrent_gemma")

#: Models that compute parts in float32 whatever the dtype of their weights.
FLOAT32_INSIDE = ("bloom", "llama", "mistral", "mixtral", "qwen2", "gemma", "t5")


@cache
def _records() -> dict[str, Any]:
    """Model type → class name, configuration and inputs of a model that builds in a second."""
    text = (Path(__file__).parent / "hf_models.json").read_text()
    return {record["model_type"]: record for record in json.loads(text)}


def build(name: str, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
    """(module in evaluation mode, keyword inputs) of a model type.

    Args:
        name: a model type of `transformers`, such as ``"bert"``.
        seed: seed of weights and inputs; one at which float32 gradients are determined, if None.
    """
    record = _records()[name]
    module = build_as(name, record["model_class"], seed)
    inputs = record["inputs"] | _INPUTS.get(name, {})
    return module, {key: _input(spec) for key, spec in inputs.items()}


def build_as(name: str, class_name: str, seed: int | None = None) -> Any:
    """The model type as another class of it, such as ``"GPT2LMHeadModel"``."""
    import torch
    import transformers

    torch.manual_seed(_SEEDS.get(name, 0) if seed is None else seed)
    model_class = getattr(transformers, class_name)
    config = model_class.config_class(**_records()[name]["config"])
    if name in _WITHOUT_CACHE:
        config.use_cache = False
    return model_class(config).eval()


def build_double(name: str, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
    """The same in float64."""
    module, inputs = build(name, seed)
    doubled = {
        key: x.double() if hasattr(x, "is_floating_point") and x.is_floating_point() else x
        for key, x in inputs.items()
    }
    return module.double(), doubled


def _input(spec: list[Any]) -> Any:
    import torch

    kind, *rest = spec
    if kind == "const":
        return rest[0]
    if kind == "int":
        shape, low, high = rest
        return torch.randint(low, high, shape)
    shape = rest[0]
    return torch.ones(shape, dtype=torch.int64) if kind == "ones" else torch.randn(shape)

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

#: Models of rectified linear units. Of millions of units some stand so close to the corner
#: that float32 rounding puts them on either side of it, also between two versions of one
#: framework; the derivative jumps there. Their gradients are compared in float64.
RECTIFIED = ("resnet", "regnet")

#: Models that compute parts in float32 whatever the dtype of their weights.
FLOAT32_INSIDE = ("bloom", "llama", "mistral", "mixtral", "qwen2", "gemma", "t5")


@cache
def _records() -> dict[str, Any]:
    """Model type → class name, configuration and inputs of a model that builds in a second."""
    text = (Path(__file__).parent / "hf_models.json").read_text()
    return {record["model_type"]: record for record in json.loads(text)}


def build(name: str, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """(module in evaluation mode, keyword inputs) of a model type.

    Args:
        name: a model type of `transformers`, such as ``"bert"``.
        seed: seed of weights and inputs.
    """
    import torch
    import transformers

    record = _records()[name]
    torch.manual_seed(seed)
    model_class = getattr(transformers, record["model_class"])
    module = model_class(model_class.config_class(**record["config"])).eval()
    return module, {key: _input(spec) for key, spec in record["inputs"].items()}


def build_double(name: str, seed: int = 0) -> tuple[Any, dict[str, Any]]:
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

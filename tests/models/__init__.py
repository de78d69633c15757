"""Real model types of `transformers`, built small with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

#: Seeds of weights and inputs; 0 for the others. The derivative of a rectified linear unit
#: jumps at zero, and of millions of units one may stand so close to it that rounding decides:
#: at seed 0 torch's own gradient in float32 is 2e-2 (resnet) and 6e-4 (regnet) from torch's in
#: float64, at most seeds, this one too, 3e-6. A gradient is compared where torch has one.
#: Of t5's with padded tokens, one is 5e-7 in torch and -8e-7 in NumPy at seed 0; so is longt5's.
_SEEDS = {"resnet": 1, "regnet": 1, "t5": 2, "longt5": 1}

#: Inputs that are others than the record's. Smaller images: of 1024 by 1024 or 640 by 640,
#: millions of numbers are compared by max pooling or rectified, and of some of them rounding
#: decides where their gradient goes: at the record's size all outputs agree, but at most seeds
#: some gradients in float32 are 4e-3 from torch's. At this size they are 3e-6 from it.
_INPUTS = {
    "sam2_hiera_det_model": {"pixel_values": ["float", [2, 3, 128, 128]]},
    "textnet": {"pixel_values": ["float", [2, 3, 128, 128]]},
    # In training its last normalizations are over as many numbers as there are images. With two
    # of them torch's own output in float64 moves by a twentieth when the input does by 1e-15.
    "levit": {"pixel_values": ["float", [8, 3, 64, 64]]},
}

#: Settings that are others than the record's: in training reformer takes as many tokens only as
#: its table of positions has places.
_SETTINGS = {"reformer": {"axial_pos_shape": (4, 4)}}

#: Models that run without a cache only when no layer is one of attention, and none of the two
#: of a small model is; transformers says "`get_seq_length` can only be called on Attention
#: layers, and the current Cache seem to only contain LinearAttention layers".
_WITHOUT_CACHE = ("bailing_hybrid", "lfm3", "recurrent_gemma")

#: Models whose values in float32 rounding decides to more than the tolerance: vits is 1e-4 from
#: torch's there, its gradient 6e-2, but in float64 they are 3e-13 and 2e-12.
FLOAT64_ONLY = ("vits",)

#: Models that PyTorch itself cannot compute in float64: mra makes its queries float32.
FLOAT32_ONLY = ("mra",)

#: Models whose training torch.export refuses: ibert looks whether its activations are NaN.
WITHOUT_TRAINING = ("ibert",)

_FILE = Path(__file__).with_name("hf_models.json")
_RECORDS: dict[str, Any] = {r["model_type"]: r for r in json.loads(_FILE.read_text())}

#: The model types: each has a configuration and inputs with which it builds in a second.
NAMES = tuple(_RECORDS)

#: Those that take a mask of their tokens.
MASKED = tuple(name for name in NAMES if "attention_mask" in _RECORDS[name]["inputs"])


def build(name: str, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
    """(module in evaluation mode, keyword inputs) of a model type.

    Args:
        name: a model type of `transformers`, such as ``"bert"``.
        seed: seed of weights and inputs; one at which float32 gradients are determined, if None.
    """
    record = _RECORDS[name]
    module = build_as(name, record["model_class"], seed)
    inputs = record["inputs"] | _INPUTS.get(name, {})
    return module, {key: _input(spec) for key, spec in inputs.items()}


def build_as(name: str, class_name: str, seed: int | None = None, **changes: Any) -> Any:
    """The model type as another class of it, such as ``"GPT2LMHeadModel"``.

    Args:
        name, class_name: the type, and a class of `transformers`.
        seed: see `build`.
        **changes: settings that are others than the record's.
    """
    import torch
    import transformers

    torch.manual_seed(_SEEDS.get(name, 0) if seed is None else seed)
    model_class = getattr(transformers, class_name)
    config = model_class.config_class(
        **_RECORDS[name]["config"] | _SETTINGS.get(name, {}) | changes
    )
    if name in _WITHOUT_CACHE and "num_hidden_layers" not in changes:
        config.use_cache = False
    for setting in vars(config):
        if setting.endswith("layerdrop"):  # an `if` on a drawn number, which torch.export refuses
            setattr(config, setting, 0.0)
    return model_class(config).eval()


def build_double(name: str, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
    """The same in float64."""
    module, inputs = build(name, seed)
    doubled = {
        key: x.double() if hasattr(x, "is_floating_point") and x.is_floating_point() else x
        for key, x in inputs.items()
    }
    return module.double(), doubled


def pad(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same inputs with an attention mask that ends in zeros, later ones in the first row."""
    mask = inputs["attention_mask"].clone()
    mask[0, -5:] = 0
    mask[1:, -2:] = 0
    return inputs | {"attention_mask": mask}


def error_beside_module(graph: Any, module: Any, inputs: dict[str, Any]) -> float:
    """The largest relative error of the graph's output on torch and of the module's.

    `Graph.verify` compares with the exported program; this is the module itself. Its output is
    a dictionary, and the graph's has to have its keys.
    """
    import torch

    import nestarray as na

    with torch.no_grad():
        want, got = module(**inputs), graph.to_backend("torch")(**inputs)
    assert list(got) == list(want), (list(got), list(want))
    worst = 0.0
    for key, value in want.items():
        theirs = value if isinstance(value, (tuple, list)) else (value,)
        ours = got[key] if isinstance(value, (tuple, list)) else (got[key],)
        ours = tuple(ours.values()) if isinstance(ours, na.Container) else ours
        if not all(isinstance(x, torch.Tensor) for x in theirs):
            continue  # a cache
        for a, b in zip(theirs, ours, strict=True):
            assert a.shape == b.shape, key
            error, scale = (a - b).abs().max().item(), a.abs().max().item()
            worst = max(worst, error / scale if error else 0.0)
    return worst


def compiles(graph: Any) -> bool:
    """Whether no size is decided by values on the way (jetmoe: how many tokens an expert gets)."""
    return graph.sized_by_values is None


def computes_in_float32(graph: Any) -> bool:
    """Whether a graph of a model in float64 has parts in float32, which the model asks for."""
    import nestarray as na

    return any(n.aval is not None and n.aval.dtype is na.float32 for n in graph.calls)


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

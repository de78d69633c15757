"""Caches of keys and values of `transformers` as nests of their tensors.

A nest mirrors the attributes: ``{"layers": [{"keys": …, "values": …}, …]}``, for an
``EncoderDecoderCache`` one under each of its two attributes. A ``StaticCache`` counts the tokens
of a layer in a tensor, ``cumulative_length``; layers with a sliding window count them in a Python
number, which becomes the tensor ``position``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray.errors import UnsupportedError


def is_cache(x: Any) -> bool:
    """Whether it is a ``Cache`` of `transformers`."""
    return _has_base(x, "Cache")


def cache_nest(cache: Any) -> dict[str, Any]:
    """The tensors of a cache, as dicts and lists.

    Raises:
        UnsupportedError: the cache is quantized or offloaded.
    """
    import torch

    if getattr(cache, "offloading", False):
        raise UnsupportedError(
            f"{type(cache).__name__} moves its layers between devices; make it with offloading=False"
        )
    if any(_has_base(cache, name) for name in ("BaseQuantizedLayer", "QuantizedLayer")):
        raise UnsupportedError(
            f"{type(cache).__name__} holds quantized keys, whose numbers depend on the steps before; "
            "use a DynamicCache or a StaticCache"
        )
    nests = {name: _nest(value) for name, value in vars(cache).items() if name[0] != "_"}
    if _is_window(cache) and nests.get("keys") is not None:
        nests["cumulative_length"] = None
        if "position" not in nests:
            length = getattr(cache, "cumulative_length_int", cache.cumulative_length)
            nests["position"] = torch.tensor(length)
    return {name: nest for name, nest in nests.items() if nest is not None}


def _is_window(layer: Any) -> bool:
    """Whether a layer of a cache drops the tokens before a sliding window."""
    return hasattr(layer, "cumulative_length_int") or hasattr(layer, "sliding_window")


def _nest(value: Any) -> Any:
    """The tensors in an attribute; None if it has none."""
    import torch

    if isinstance(value, torch.Tensor):
        is_unfilled = value.ndim == 1 and value.shape[0] == 0
        return None if is_unfilled else value
    if isinstance(value, Mapping):
        nests = {key: _nest(item) for key, item in value.items()}
        return {key: nest for key, nest in nests.items() if nest is not None} or None
    if isinstance(value, list):
        nests = [_nest(item) for item in value]
        return None if all(nest is None for nest in nests) else nests
    return cache_nest(value) if is_cache(value) or is_layer(value) else None


def is_layer(x: Any) -> bool:
    """Whether it is a layer of a cache of `transformers`."""
    return any(
        _has_base(x, name)
        for name in ("CacheLayerMixin", "LinearAttentionCacheLayerMixin", "DummyLayer")
    )


def _has_base(x: Any, name: str) -> bool:
    return any(
        kind.__name__ == name and kind.__module__.startswith("transformers.")
        for kind in type(x).__mro__
    )

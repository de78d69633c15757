"""Caches of `transformers` as arguments of a traced module.

The module is traced as a function of the caches' tensors (`nestarray.interchange.caches`). Its call
fills copies of the example's caches; flags and settings of these are part of the program. Layers
with a sliding window hold the number of tokens in a Python number, on which their code branches;
`_Window` computes the same from a tensor.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import types
from collections.abc import Iterator
from typing import Any

import torch

from nestarray.errors import ConversionError, UnsupportedError
from nestarray.importers.patching import patched
from nestarray.interchange.caches import cache_nest, is_cache, is_layer


def with_nests(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """A module whose arguments are nests of tensors in place of caches, and these arguments.

    Raises:
        ConversionError: a cache is quantized or offloaded.
    """
    caches = {k: x for k, x in (*enumerate(args), *kwargs.items()) if is_cache(x)}
    if not caches:
        return module, args, kwargs
    try:
        nests = {k: cache_nest(x) for k, x in caches.items()}
    except UnsupportedError as error:
        raise ConversionError(f"trace_graph: {error}") from error
    forward = type(module).forward

    @functools.wraps(forward)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        def argument(k: Any, x: Any) -> Any:
            return _filled(caches[k], x) if k in caches else x

        filled = [argument(i, x) for i, x in enumerate(args)]
        named = {k: argument(k, x) for k, x in kwargs.items()}
        with _masks_of_windows():
            return forward(self, *filled, **named)

    module = copy.copy(module)
    module.forward = types.MethodType(call, module)
    args = tuple([nests.get(i, x) for i, x in enumerate(args)])
    return module, args, {k: nests.get(k, x) for k, x in kwargs.items()}


def _filled(part: Any, nest: Any) -> Any:
    """A copy of a cache, or of a part of one, with the tensors of `nest`."""
    if isinstance(part, torch.Tensor):
        return (part if nest is None else nest).clone()  # layers write into them
    if isinstance(part, dict):
        inner = {} if nest is None else nest
        return {key: _filled(item, inner.get(key)) for key, item in part.items()}
    if isinstance(part, list):
        inner = [None] * len(part) if nest is None else nest
        return [_filled(item, each) for item, each in zip(part, inner, strict=True)]
    if not (is_cache(part) or is_layer(part)):
        return part
    inner = {} if nest is None else nest
    attributes = {name: _filled(value, inner.get(name)) for name, value in vars(part).items()}
    kind = type(part)
    if "position" in inner:
        kind = _window_class(kind)
        attributes |= {"position": inner["position"].clone(), "cumulative_length": None}
    new = object.__new__(kind)
    vars(new).update(attributes)
    return new


@functools.cache
def _window_class(kind: type) -> type:
    is_static = any(each.__name__ == "StaticLayer" for each in kind.__mro__)
    return type(kind.__name__, (_StaticWindow if is_static else _DynamicWindow, kind), {})


class _Window:
    """A layer with a sliding window that counts tokens in the tensor `position`."""

    keys: Any
    values: Any
    position: Any

    def get_seq_length(self) -> Any:
        return self.position


class _DynamicWindow(_Window):
    """A window that grows up to its size less one."""

    sliding_window: int

    def get_mask_sizes(self, query_length: Any) -> tuple[Any, Any]:
        length = self.keys.shape[-2]
        return length + query_length, self.position - length

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> Any:
        keys = torch.cat([self.keys, key_states], dim=-2)
        values = torch.cat([self.values, value_states], dim=-2)
        first = 1 - self.sliding_window
        self.keys, self.values = keys[:, :, first:], values[:, :, first:]
        self.position = self.position + key_states.shape[-2]
        return keys, values


class _StaticWindow(_Window):
    """A window of fixed size: its first ``min(position, size)`` rows are filled.

    New tokens are attended to together with the old window; the mask hides older tokens from each.
    """

    max_cache_len: int

    def get_mask_sizes(self, query_length: Any) -> tuple[Any, Any]:
        size = self.max_cache_len
        return size + query_length, (self.position - size).clamp(min=0)

    def update(self, key_states: Any, value_states: Any, *args: Any, **kwargs: Any) -> Any:
        new, size = key_states.shape[-2], self.max_cache_len
        filled = self.position.clamp(max=size)
        first = (filled + new - size).clamp(min=0)
        self.keys, keys = _joined(self.keys, key_states, filled, first)
        self.values, values = _joined(self.values, value_states, filled, first)
        self.position = self.position + new
        return keys, values


def _joined(rows: Any, states: Any, filled: Any, first: Any) -> tuple[Any, Any]:
    """The window after new tokens, from row `first`; and the old window with the tokens."""
    places = torch.arange(states.shape[2], device=rows.device)
    both = torch.cat([rows, torch.zeros_like(states)], dim=2)
    both = both.index_copy(2, filled + places, states)
    window = torch.arange(rows.shape[2], device=rows.device)
    return both.index_select(2, first + window), both


@contextlib.contextmanager
def _masks_of_windows() -> Iterator[None]:
    """Pad masks of tokens for windows that begin at a place in a tensor.

    `transformers` compares the end of the window with the length of the mask.
    """
    from transformers import masking_utils

    native = masking_utils.prepare_padding_mask

    def padded(mask: Any, length: Any, offset: Any, *args: Any, **kwargs: Any) -> Any:
        if mask is None or not isinstance(offset, torch.Tensor):
            return native(mask, length, offset, *args, **kwargs)
        return torch.nn.functional.pad(mask, (0, length))

    with patched((masking_utils, "prepare_padding_mask", padded)):
        yield

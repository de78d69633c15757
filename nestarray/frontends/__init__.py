"""The public interfaces of other frameworks on nestarray's ops; PyTorch's, and parts of JAX's."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray.lazy_imports import attach as _attach

if _TYPE_CHECKING:
    from nestarray.frontends import jax as jax
    from nestarray.frontends import torch as torch

_attach(__name__, {"nestarray.frontends": ("jax", "torch")})

"""PyTorch's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters, defaults and semantics are upstream's, https://docs.pytorch.org/docs/stable:
``dim`` and ``keepdim``, 0-d arrays that do not promote, integers divided as float32. Differences
from nestarray's ops are implemented here and in no backend. The importer of ATen graphs calls the
same functions: `vocabulary`.

Differences from programs for PyTorch:

- Arrays are native, with the methods and operators of their framework. Upstream's methods are
  functions, ``torch.Tensor.view(x, -1)``. No function writes in place.
- Random functions take another parameter, ``key``, in place of a global state.
- Gradients are computed by `nestarray.grad` or by the framework.
- ``device``, ``layout`` and ``requires_grad`` are not parameters. Creation functions use the
  default backend: ``na.set_backend("jax")``.
- JAX has 64-bit numbers only with ``jax_enable_x64``. Without it, integers are int32, and float64
  is an error.

Example:
    >>> import numpy as np, nestarray as na, nestarray.frontends.torch as torch
    >>> torch.add(np.asarray([1.0, 2.0]), np.asarray([10.0, 20.0]), alpha=2)
    array([21., 42.])
    >>> torch.nn.functional.one_hot(np.asarray([2, 0]), 3)
    array([[0, 0, 1],
           [1, 0, 0]])
    >>> torch.randn(2, 3, key=na.random.key(0)).shape
    (2, 3)
    >>> torch.linalg.svd(np.eye(2)).S
    array([1., 1.])

    A step of training, on any backend:

    >>> F = torch.nn.functional
    >>> def loss(w, x, labels, key):
    ...     x = F.dropout(torch.tanh(x), 0.5, key=key)
    ...     return F.cross_entropy(F.linear(x, w), labels)
    >>> x, w = np.ones((4, 3), "float32"), np.zeros((2, 3), "float32")
    >>> gradient = na.grad(loss)(w, x, np.asarray([0, 1, 1, 1]), na.random.key(1))
    >>> (w - 0.1 * gradient).dtype
    dtype('float32')
"""

from nestarray.frontends.torch import _higher_order_ops as _higher_order_ops
from nestarray.frontends.torch import fft as fft
from nestarray.frontends.torch import linalg as linalg
from nestarray.frontends.torch import masked as masked
from nestarray.frontends.torch import methods as Tensor  # noqa: F401 - upstream's name
from nestarray.frontends.torch import nn as nn
from nestarray.frontends.torch import ops as ops
from nestarray.frontends.torch import signal as signal
from nestarray.frontends.torch import special as special
from nestarray.frontends.torch.aliases import *
from nestarray.frontends.torch.comparison import *
from nestarray.frontends.torch.contraction import *
from nestarray.frontends.torch.creation import *
from nestarray.frontends.torch.differences import *
from nestarray.frontends.torch.factoring import *
from nestarray.frontends.torch.indexing import *
from nestarray.frontends.torch.lowrank import *
from nestarray.frontends.torch.norms import *
from nestarray.frontends.torch.ordering import *
from nestarray.frontends.torch.pointwise import *
from nestarray.frontends.torch.promotion import *
from nestarray.frontends.torch.quantization import *
from nestarray.frontends.torch.recurrent import *
from nestarray.frontends.torch.reduction import *
from nestarray.frontends.torch.reflections import *
from nestarray.frontends.torch.representation import *
from nestarray.frontends.torch.sampling import *
from nestarray.frontends.torch.segments import *
from nestarray.frontends.torch.shaping import *
from nestarray.frontends.torch.spectra import *
from nestarray.frontends.torch.statistics import *
from nestarray.frontends.torch.strides import *
from nestarray.frontends.torch.symbolic import *
from nestarray.frontends.torch.uniqueness import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "fft", "linalg", "masked", "nn", "ops", "signal", "special")

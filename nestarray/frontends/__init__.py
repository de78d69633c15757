"""Functions of PyTorch, JAX, TensorFlow and Keras under their names, for arrays of any framework.

``from nestarray.frontends import torch``, ``jax``, ``tensorflow`` or ``keras`` replaces the import of
the framework in code that computes with arrays. The functions have the arguments, dtypes and derivatives
of the original on every backend.

Example:
    >>> import numpy as np
    >>> from nestarray.frontends import jax, torch
    >>> jax.numpy.clip(np.asarray([-1.0, 0.5]), 0, 1)
    array([0. , 0.5])
    >>> torch.nn.functional.relu(np.asarray([-1.0, 0.5]))
    array([0. , 0.5])
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray.lazy_imports import attach as _attach

if _TYPE_CHECKING:
    from nestarray.frontends import jax as jax
    from nestarray.frontends import keras as keras
    from nestarray.frontends import numpy as numpy
    from nestarray.frontends import tensorflow as tensorflow
    from nestarray.frontends import torch as torch

_attach(__name__, {"nestarray.frontends": ("jax", "keras", "numpy", "tensorflow", "torch")})

"""Low-rank adapters: small Containers that change the variables of any model.

`merge` is a function of variables and adapters, so a model needs no change, and training is the
gradient by the adapters:

    ``na.grad(lambda a: loss(net(x, v=lora.merge(net.v, a))))(adapters)``
"""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes, ops, random
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.typing import Array


class LoRA:
    """Low-rank adaptation: W + alpha / rank · B A for the matrices W of some paths.

    A weight of more axes is a matrix of its output axis and all others.

    Args:
        *patterns: of paths, as for ``v.select``; vectors and integers among them are left out.
        rank: the number of rows of A.
        alpha: the scale of the product; None is `rank`.
        use_rslora: whether to divide by √rank.
        output_axis: the axis of the outputs: 0 in PyTorch and nestarray, −1 in Flax and Keras.

    Raises:
        ArgumentError: `rank` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Sequential(na.nn.Linear(6, 8), na.nn.Linear(8, 2)).init(na.random.key(0))
        >>> lora = na.nn.LoRA("1", rank=2, alpha=4)
        >>> adapters = lora.init(net.v, na.random.key(1))
        >>> {path: a.shape for path, a in adapters.flat_items()}
        {'1/weight/lora_A': (2, 8), '1/weight/lora_B': (2, 2)}
        >>> loss = lambda a: na.sum(net(np.ones((3, 6), np.float32), v=lora.merge(net.v, a)) ** 2)
        >>> adapters = adapters - 0.1 * na.grad(loss)(adapters)
        >>> net = net.with_variables(lora.merge(net.v, adapters))

    References:
        https://arxiv.org/abs/2106.09685
        https://huggingface.co/docs/peft/package_reference/lora
    """

    @signature_errors()
    def __init__(
        self,
        *patterns: Any,
        rank: int = 8,
        alpha: float | None = None,
        use_rslora: bool = False,
        output_axis: int = 0,
    ) -> None:
        name = type(self).__name__
        if rank < 1:
            raise ArgumentError(f"{name}: rank: got {rank}, expected a positive number")
        if not patterns:
            raise ArgumentError(f"{name}: got no pattern, expected one such as '**/weight'")
        self.patterns, self.rank, self.output_axis = patterns, rank, output_axis
        self.alpha, self.use_rslora = float(rank if alpha is None else alpha), use_rslora

    def init(self, v: Container, key: Array) -> Container:
        """Adapters that change nothing yet: A is random as in `peft`, B is zero.

        Args:
            v: the variables of the model.
            key: a key of `na.random`; each adapter folds in its path.

        Returns:
            a Container with ``lora_A`` `(rank, inputs)` and ``lora_B`` `(outputs, rank)` below the
            path of each adapted weight.

        Raises:
            ArgumentError: no matrix has a path of the patterns.
        """
        weights = {
            path: weight
            for path, weight in v.select(*self.patterns).flat_items()
            if len(weight.shape) > 1 and dtypes.dtype_of(weight).is_floating
        }
        if not weights:
            raise ArgumentError(
                f"{type(self).__name__}: patterns: got {self.patterns}, expected the path of a "
                "floating matrix at least"
            )
        return Container.from_flat_dict({
            f"{path}/{name}": x
            for path, weight in weights.items()
            for name, x in self._adapter(weight, random.fold_in(key, path)).items()
        })  # fmt: skip

    def merge(self, v: Container, adapters: Container) -> Container:
        """The variables with the products of their adapters.

        Args:
            v: the variables of the model.
            adapters: from `init`, trained or not.

        Returns:
            a Container of the structure of `v`.

        Raises:
            PathError: `v` has no variable at a path of `adapters`.
        """
        paths = dict.fromkeys(path.rpartition("/")[0] for path in adapters.paths())
        for path in paths:
            v = v.set(path, self._merged(v[path], adapters[path]))
        return v

    def _adapter(self, weight: Array, key: Array) -> dict[str, Array]:
        outputs, inputs = self._matrix(weight).shape
        dtype = dtypes.dtype_of(weight)
        bound = 1 / math.sqrt(inputs)  # torch's kaiming_uniform_ with a = √5
        return {
            "lora_A": initializers.uniform(bound)(key, (self.rank, inputs), dtype),
            "lora_B": ops.zeros((outputs, self.rank), dtype=dtype, like=weight),
        }

    def _merged(self, weight: Array, adapter: Container) -> Array:
        return self._like(self._sum(weight, adapter), weight)

    def _sum(self, weight: Array, adapter: Container) -> Array:
        """The weight with the product, as a matrix of the outputs."""
        scale = self.alpha / (math.sqrt(self.rank) if self.use_rslora else self.rank)
        product = ops.matmul(adapter["lora_B"], adapter["lora_A"])
        return ops.add(self._matrix(weight), ops.multiply(product, scale))

    def _matrix(self, weight: Array) -> Array:
        moved = ops.moveaxis(weight, self.output_axis, 0)
        return ops.reshape(moved, (moved.shape[0], -1))

    def _like(self, matrix: Array, weight: Array) -> Array:
        """The inverse of `_matrix`."""
        shape = list(weight.shape)
        outputs = shape.pop(self.output_axis)
        return ops.moveaxis(ops.reshape(matrix, (outputs, *shape)), 0, self.output_axis)

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{name}={x!r}" for name, x in vars(self).items() if name != "patterns"
        )
        return f"{type(self).__name__}({', '.join(map(repr, self.patterns))}, {settings})"


class DoRA(LoRA):
    """Weight-decomposed adaptation: m · U / ‖U‖ with U = W + alpha / rank · B A, for each output.

    The magnitudes m are trained too; gradients do not pass ‖U‖, as in the paper and in `peft`.

    Args:
        *patterns: of paths, as for ``v.select``; vectors and integers among them are left out.
        rank: the number of rows of A.
        alpha: the scale of the product; None is `rank`.
        use_rslora: whether to divide by √rank.
        output_axis: the axis of the outputs: 0 in PyTorch and nestarray, −1 in Flax and Keras.

    Example:
        >>> import nestarray as na
        >>> net = na.nn.Linear(3, 4).init(na.random.key(0))
        >>> na.nn.DoRA("weight", rank=2).init(net.v, na.random.key(1)).paths()
        ('weight/lora_A', 'weight/lora_B', 'weight/magnitude')

    References:
        https://arxiv.org/abs/2402.09353
    """

    def _adapter(self, weight: Array, key: Array) -> dict[str, Array]:
        return super()._adapter(weight, key) | {"magnitude": _norms(self._matrix(weight))}

    def _merged(self, weight: Array, adapter: Container) -> Array:
        matrix = self._sum(weight, adapter)
        factor = ops.divide(adapter["magnitude"], ops.stop_gradient(_norms(matrix)))
        return self._like(ops.multiply(matrix, ops.expand_dims(factor, -1)), weight)


def _norms(matrix: Array) -> Array:
    return ops.sqrt(ops.sum(ops.square(matrix), axis=-1))

"""The initializers with which layers of PyTorch, Keras and Flax begin."""

from __future__ import annotations

from nestarray.errors import ArgumentError
from nestarray.nn.initializers.distributions import (
    Initializer,
    fan_in_uniform,
    glorot_uniform,
    lecun_normal,
    normal,
    uniform,
    variance_scaling,
    zeros,
)
from nestarray.nn.initializers.matrices import orthogonal

_ROLES = ("weight", "bias", "embedding", "recurrent")


def default(framework: str, role: str = "weight", *, fan_in: int | None = None) -> Initializer:
    """The default initializer of another framework.

    ===============  ==================  ======================  ===================
    role             PyTorch             Keras                   Flax
    ===============  ==================  ======================  ===================
    ``weight``       uniform, ±1/√in     ``glorot_uniform``      ``lecun_normal``
    ``bias``         uniform, ±1/√in     0                       0
    ``embedding``    normal, std 1       uniform, ±0.05          normal, std 1/√features
    ``recurrent``    uniform, ±1/√in     ``orthogonal``          ``orthogonal``
    ===============  ==================  ======================  ===================

    Args:
        framework: ``"torch"``, ``"keras"`` or ``"flax"``.
        role: ``"weight"`` of affine maps and convolutions, ``"bias"``, ``"embedding"``, or
            ``"recurrent"``, the weight of the hidden state.
        fan_in: the fan-in of the layer's weight, on which PyTorch's biases depend.

    Raises:
        ArgumentError: a name is unknown, or `fan_in` is missing.

    Example:
        >>> import nestarray as na
        >>> keras = na.nn.initializers.default("keras")
        >>> na.nn.Linear(2, 3, initializer=keras).init(na.random.key(0)).v.weight.shape
        (3, 2)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
        https://keras.io/api/layers/core_layers/dense/
        https://flax.readthedocs.io/en/latest/api_reference/flax.nnx/nn/linear.html
    """
    if framework not in ("torch", "keras", "flax"):
        raise ArgumentError(
            f"default: framework: got {framework!r}, expected 'torch', 'keras' or 'flax'"
        )
    if role not in _ROLES:
        raise ArgumentError(f"default: role: got {role!r}, expected {', '.join(map(repr, _ROLES))}")
    if framework == "torch":
        return _of_torch(role, fan_in)
    if role == "bias":
        return zeros
    if role == "recurrent":
        return orthogonal()
    if framework == "keras":
        return glorot_uniform() if role == "weight" else uniform(0.05)
    return lecun_normal() if role == "weight" else variance_scaling(1.0, "fan_in", "normal")


def _of_torch(role: str, fan_in: int | None) -> Initializer:
    if role == "embedding":
        return normal(1.0)
    if role != "bias":
        return fan_in_uniform()
    if fan_in is None:
        raise ArgumentError(
            "default: fan_in: got None, expected the fan-in of the weight, on which biases of PyTorch "
            "depend"
        )
    return uniform(fan_in**-0.5 if fan_in else 0.0)

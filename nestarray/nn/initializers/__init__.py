"""Initial values of variables: ``initializer(key, shape, dtype)``.

Weights have the layout of PyTorch: `(out, in, *window)`; so the fan-in is the product of
all sizes but the first, the fan-out of all but the second. Initializers, and the layers that hold
them, can be pickled: their functions are not local.
"""

from nestarray.errors.unknown_names import suggest_names
from nestarray.nn.initializers.distributions import (
    Initializer,
    constant,
    fan_in_uniform,
    fans,
    gain,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    normal,
    ones,
    truncated_normal,
    uniform,
    variance_scaling,
    zeros,
)
from nestarray.nn.initializers.frameworks import default
from nestarray.nn.initializers.matrices import (
    delta_orthogonal,
    dirac,
    identity,
    orthogonal,
    sparse,
)

__all__ = [
    "Initializer",
    "constant",
    "default",
    "delta_orthogonal",
    "dirac",
    "fan_in_uniform",
    "fans",
    "gain",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "sparse",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "zeros",
]

suggest_names(__name__)

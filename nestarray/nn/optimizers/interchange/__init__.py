"""Conversion of optimizers and their states to optax, PyTorch and Keras, and back.

A run that continues in another library has the losses that it would have without the change. An
optimizer whose formulas differ there is refused.
"""

from nestarray.nn.optimizers.interchange.keras_optimizers import (
    from_keras_optimizer,
    to_keras_optimizer,
)
from nestarray.nn.optimizers.interchange.optax_states import from_optax, to_optax
from nestarray.nn.optimizers.interchange.torch_optimizers import (
    from_torch_optimizer,
    to_torch_optimizer,
)

__all__ = [
    "from_keras_optimizer", "from_optax", "from_torch_optimizer",
    "to_keras_optimizer", "to_optax", "to_torch_optimizer",
]  # fmt: skip

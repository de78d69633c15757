"""Dispatch: from a public op to its implementation, by the types of the array arguments.

| module | contents |
|---|---|
| `operation` | `Op`, its decorators, the tables of ops and interpreters |
| `containers`, `shortcuts` | ops on Containers |
| `fused` | ops on fused Containers |
| `numpy_protocols`, `numpy_functions`, `torch_functions`, `tensorflow_functions` | functions of the frameworks on Containers |
"""

from nestarray.dispatch.operation import INTERPRETERS as INTERPRETERS
from nestarray.dispatch.operation import OPS as OPS
from nestarray.dispatch.operation import Op as Op
from nestarray.dispatch.operation import floating_op as floating_op
from nestarray.dispatch.operation import op as op
from nestarray.dispatch.operation import primitive as primitive
from nestarray.dispatch.operation import register_interpreter as register_interpreter
from nestarray.dispatch.operation import without_arrays as without_arrays
from nestarray.traits import Trait as Trait

from nestarray.dispatch import containers as containers  # isort: skip
from nestarray.dispatch import fused as fused
from nestarray.dispatch import numpy_functions as numpy_functions
from nestarray.dispatch import tensorflow_functions as tensorflow_functions
from nestarray.dispatch import torch_functions as torch_functions

"""The importer of Keras models, ``tf.function``, ``tf.Module`` and SavedModels.

- `selection`: accepted sources; `models`: a source as a concrete function with named variables.
- `translation`, `control_flow`: the translation of its operations; `arguments`: calls of
  functions and their rules; `known_values`: shape arithmetic; `sizes`: open
  sizes; `loops`: While as scan; `tensor_lists`: TensorLists as stacked arrays;
  `custom_gradients`: the rules of ``tf.custom_gradient``; `islands`: functions of Python, and
  operations without a counterpart; `places`: lines and layers.
- `source`: the concrete function as the reference of proofs.
"""

from __future__ import annotations

from nestarray.importers import protocol
from nestarray.importers.tensorflow.selection import TensorFlowImporter

protocol.register(TensorFlowImporter())

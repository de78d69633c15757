"""Models of other frameworks as graphs: one package for each source.

- `protocol`: the interface of importers; `tracing`: `trace_graph`; `size_spec`: open sizes.
- `python`: code over `na`; `torch`: PyTorch modules and functions; `jax`: JAX functions, Flax,
  Haiku and Equinox models; `tensorflow`: functions and modules of TensorFlow, SavedModels.
- `numpy`: functions and methods of NumPy arrays.
- `keras`: models of Keras, which the importer of their backend reads.
- `translator`: the base class of the translations of equations.
- `coverage`: the operations of a source; `check`: the report before a conversion.
- `islands`: operations that stay in the source's framework; `module`: a graph as a layer;
  `patching`: attributes of a framework that are replaced during a trace.

Of the package of a framework, `selection` is imported here; the other files import the framework, and
are imported with its first source.
"""

from nestarray.importers import jax as jax  # registered when imported
from nestarray.importers import numpy as numpy
from nestarray.importers import python as python
from nestarray.importers import tensorflow as tensorflow
from nestarray.importers import torch as torch

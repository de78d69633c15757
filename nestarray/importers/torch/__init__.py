"""PyTorch modules as graphs: what `torch.export` is asked, what it forgets, and how its program is read.

- `selection`: whether a source is of torch; `sources`: wrappers, functions and modules; `exporting`: running the exporter; `failures`: advice.
- `dynamic`, `size_names`: sizes that are left open.
- `gradient_modes`, `assignments`, `autograd_functions`: what the exporter forgets;
  `below_autograd`: what it does not see.
- `sequences`, `alignments`, `looking_functions`, `transformed_normalizations`,
  `flexible_attention`, `cumulative_averages`, `mapped_operations`, `embedding_bags`,
  `joined_tangents`, `shortened_embeddings`: what it cannot read, in other words while a module is
  traced; `replacements`: how it is put in torch's place, and taken away again.
- `foreign_draws`, `seeded_draws`, `known_numbers`: numbers that would be constants, and those
  that are.
- `coverage`: what becomes of each operation; `importer`, `control_flow`: the translation.
"""

from __future__ import annotations

from nestarray.importers import protocol
from nestarray.importers.torch.importer import TorchImporter

protocol.register(TorchImporter())

"""The importer of PyTorch modules and functions, through `torch.export`.

- `selection`: accepted sources; `unwrapping`, `scripted`: wrappers, functions and scripts as modules.
- `exporting`: the call of the exporter; `export_errors`: advice for its errors; `dynamic`,
  `size_names`: open sizes.
- `gradient_modes`, `aliases`, `assignments`, `autograd_functions`, `tied_tensors`,
  `overwritten_parameters`: semantics that the exporter drops;
  `below_autograd`: modules that compute derivatives.
- Replacements of parts of torch, for the exporter: `sequences`, `ctc_loss`,
  `data_dependent`, `normalizations`, `flex_attention`, `running_statistics`, `vmap_rules`,
  `embedding_bags`, `fake_quantization`, `jvp_concat`, `max_norm_embedding`, `distributions`.
- `external_random`, `seeded_random`, `known_values`: random numbers, scalars and masks that become
  constants.
- `coverage`: a rule or a decomposition for each operation; `importer`, `control_flow`: the
  translation; `source`: the program as the reference of proofs; `islands`: operations in torch.
"""

from __future__ import annotations

from nestarray.importers import protocol
from nestarray.importers.torch.importer import TorchImporter

protocol.register(TorchImporter())

"""The importer of PyTorch modules and functions, through `torch.export`.

- `selection`: accepted sources; `unwrapping`, `scripted`: wrappers, functions and scripts as modules.
- `exporting`: the call of the exporter; `trace`: the workarounds of one trace and the calls that
  they replace; `export_errors`: advice for errors; `dynamic`, `size_names`: open sizes.
- `workarounds`: the behaviours of torch that a trace cannot take, as records.
- Passes over the exported program: `aliases`, `gradient_modes`, `tied_tensors`,
  `overwritten_parameters`; `assignments`: writes by ``=`` and ``.data``.
- `below_autograd`: modules that compute derivatives.
- `known_values`: scalars and masks that become constants.
- `coverage`: a rule or a decomposition for each operation; `translation`,
  `control_flow`: the translation; `source`: the program as the reference of proofs; `islands`: operations in torch.
"""

from __future__ import annotations

from nestarray.importers import protocol
from nestarray.importers.torch.selection import TorchImporter

protocol.register(TorchImporter())

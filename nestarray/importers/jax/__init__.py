"""The importer of JAX functions and models, through jaxprs.

- `selection`: accepted sources; `models`: Flax, Haiku and Equinox models as functions of their
  variables.
- `translation`, `calls`, `control_flow`: the translation of equations; `sizes`: open sizes;
  `custom_derivatives`: the rules of custom_jvp and custom_vjp; `places`: lines and modules;
  `islands`: callbacks, and primitives that stay in JAX; `trace_errors`: advice for JAX's errors.
- `source`: the jaxpr as the reference of proofs.
"""

from __future__ import annotations

from nestarray.importers import protocol
from nestarray.importers.jax.selection import JaxImporter

protocol.register(JaxImporter())

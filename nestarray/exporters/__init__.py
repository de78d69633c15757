"""Graphs and modules in the forms of other libraries.

- `native`: the methods `to_torch_module`, `to_flax_module`, …
- `export`: the method `Graph.export`; one file for the formats of each framework.
- `program`: a model as exporters take it.
- One file for each kind of native module, which imports its library: a class that holds the
  variables under the paths of the source, runs the program in the mode that the library selects,
  draws keys from the library's generator, and writes new state where the library keeps it.

Keras loads a saved `KerasModel` after ``import nestarray`` (`keras_registration`).
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray import lazy_imports as _lazy_imports

if _TYPE_CHECKING:
    from nestarray.exporters.export import Exported as Exported
    from nestarray.exporters.keras_model import KerasModel as KerasModel

__all__ = ["Exported", "KerasModel"]

_lazy_imports.attach(
    __name__,
    {
        "nestarray.exporters.export": ("Exported",),
        "nestarray.exporters.keras_model": ("KerasModel",),
    },
)

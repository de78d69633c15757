"""Registration of `KerasModel` in Keras, so that ``keras.saving.load_model`` makes it.

Keras looks up the classes of a file by the names that packages registered, and imports none.
"""

from __future__ import annotations

import sys
from typing import Any

from nestarray import exporters, lazy_imports


class SavedModel:
    """The registered class until a file is loaded, which imports the model's."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The model of a file."""
        return exporters.KerasModel.from_config(config)


def _register() -> None:
    sys.modules["keras"].saving.get_custom_objects()["nestarray>KerasModel"] = SavedModel


lazy_imports.after_import("keras", _register)

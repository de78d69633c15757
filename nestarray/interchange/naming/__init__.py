"""Maps between the parameter names and layouts of two trees: `Container.match` and `KeyMap`."""

from nestarray.interchange.naming import match as match

"""Maps between the parameter names and layouts of two trees: `Container.match` and `KeyMap`."""

"""The styles of stand-alone source."""

#: Style → the framework.
TARGETS = {
    "module": "tensorflow",
    "torch": "torch",
    "functional": "jax",
    "nnx": "jax",
    "equinox": "jax",
}

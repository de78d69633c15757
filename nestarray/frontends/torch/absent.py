"""What of PyTorch's namespace is not here, and what does its work."""

from __future__ import annotations

import inspect
import sys
from typing import NoReturn

from nestarray.errors.unknown_names import explanation, unknown_attribute

_KEYS = "random functions take a key, for example torch.randn(2, 3, key=na.random.key(0))"
_GRADIENTS = "gradients are na.grad and na.execute_with_gradients of a function"
_LAYERS = "layers, initializers and optimizers are those of na.nn"
_DEVICES = "an array lives where its framework puts it; na.to_device moves it"
_MODES = "arrays are values, and no function changes one"
_LISTED = "docs/torch_coverage.md lists the functions that there are"

#: Name → what to use.
INSTEAD = {
    **dict.fromkeys(("manual_seed", "seed", "Generator", "get_rng_state", "random"), _KEYS),
    **dict.fromkeys(("autograd", "no_grad", "enable_grad", "inference_mode"), _GRADIENTS),
    **dict.fromkeys(("set_grad_enabled", "is_grad_enabled"), _GRADIENTS),
    "func": "transformations are na.grad, na.vjp, na.jvp, na.vmap and na.jit",
    "vmap": "it is na.vmap",
    "compile": "it is na.jit",
    **dict.fromkeys(("Module", "Parameter", "init", "optim"), _LAYERS),
    **dict.fromkeys(("Linear", "Conv2d", "LayerNorm", "Embedding", "Sequential"), _LAYERS),
    **dict.fromkeys(("device", "cuda", "mps", "get_device"), _DEVICES),
    **dict.fromkeys(("strided", "contiguous_format", "channels_last", "preserve_format"), _DEVICES),
    **dict.fromkeys(("is_inference", "is_conj", "is_neg"), _MODES),
    "Size": "a shape is a tuple",
    "dtype": "the dtype of an array is na.dtype_of(x)",
    **dict.fromkeys(("get_default_dtype", "set_default_dtype"), "the default dtype is float32"),
    **dict.fromkeys(("chalf", "complex32"), "there are no complex numbers of 32 bits"),
    **dict.fromkeys(("save", "load"), "files are Container.save and Container.load"),
    **dict.fromkeys(("sparse", "sparse_coo_tensor", "sparse_csr_tensor"), "arrays are dense"),
}


#: Where a function may be that was looked for in another namespace: module → its public name.
_SPACES = {
    "nestarray.frontends.torch": "torch",
    "nestarray.frontends.torch.nn.functional": "torch.nn.functional",
    "nestarray.frontends.torch.methods": "torch.Tensor",
    "nestarray.frontends.torch.linalg": "torch.linalg",
    "nestarray.frontends.torch.special": "torch.special",
    "nestarray.frontends.torch.fft": "torch.fft",
}


def explain(module: str, *submodules: str) -> None:
    """Give a public namespace its ``__dir__``, and errors with advice for names that it lacks.

    Args:
        module: the ``__name__`` of the namespace.
        submodules: its files that are namespaces too; the other files of a package are internal.

    Example:
        >>> import nestarray.frontends.torch as torch
        >>> torch.manual_seed(0)
        Traceback (most recent call last):
        AttributeError: torch.manual_seed: nestarray.frontends.torch has no such name; random
        functions take a key, for example torch.randn(2, 3, key=na.random.key(0))
    """
    space = vars(sys.modules[module])
    shown = _SPACES.get(module, module.removeprefix("nestarray.frontends."))

    def names() -> list[str]:
        if "__all__" in space:
            return sorted(space["__all__"])
        internal = {n for n, value in space.items() if value is sys.modules.get(f"{module}.{n}")}
        return sorted(n for n in space.keys() - (internal - {*submodules}) if n[0] != "_")

    def __getattr__(name: str) -> NoReturn:
        text = f"{shown}.{name}: nestarray.frontends.torch has no such name"
        if name.startswith("__"):
            raise AttributeError(text)

        def message() -> str:
            words = INSTEAD.get(name) or _elsewhere(name) or explanation(name, names(), {})
            return f"{text}; {words or _LISTED}"

        raise unknown_attribute(message, name)

    space.update(__getattr__=__getattr__, __dir__=names)


def _elsewhere(name: str) -> str:
    """The function of that name in another namespace, or the one that a method in place stands for."""
    of_name = name.removesuffix("_") or name
    for module, space in _SPACES.items():
        if inspect.isfunction(vars(sys.modules[module]).get(of_name)):
            where = f"{space}.{of_name}(x, ...)"
            return f"{_MODES}: x = {where}" if of_name != name else f"it is {where}"
    return ""

"""Containers and ``torch.nn.Module``: state dicts out, parameters back in.

`from_torch_module` takes the parameters of a module; the other functions are the way back.
"""

from __future__ import annotations

import difflib
from typing import Any

from nestarray import backends
from nestarray.container import Container, constructor, method
from nestarray.errors import ArgumentError, ShapeError, StructureError
from nestarray.interop import move


@constructor
def from_torch_module(module: Any, /, *, buffers: bool = False) -> Container:
    """The parameters of a ``torch.nn.Module``, nested by module path, sharing memory.

    Tied weights are one tensor under each of their names. The way back is
    `load_into_torch_module`.

    Args:
        module: a ``torch.nn.Module``.
        buffers: also take the buffers (running statistics and the like).

    Returns:
        a Container of detached tensors.

    Raises:
        ArgumentError: `module` is not a ``torch.nn.Module``.

    Example:
        >>> import torch, nestarray as na
        >>> na.Container.from_torch_module(torch.nn.Linear(3, 2)).paths()
        ('weight', 'bias')
    """
    return Container.from_flat_dict(_tensors(module, buffers), ".")


def _tensors(module: Any, buffers: bool) -> dict[str, Any]:
    """Name → detached tensor of a torch module's parameters, and buffers if asked for.

    A tensor that has several names (tied weights) is one tensor under all of them.
    """
    if not (hasattr(module, "named_parameters") and hasattr(module, "named_buffers")):
        raise ArgumentError(
            f"Container.from_torch_module: module: got {type(module).__name__}, expected a torch.nn.Module"
        )
    tensors = dict(module.named_parameters(remove_duplicate=False))
    if buffers:
        tensors |= dict(module.named_buffers(remove_duplicate=False))
    detached = {id(tensor): tensor.detach() for tensor in tensors.values()}
    return {name: detached[id(tensor)] for name, tensor in tensors.items()}


@method
def to_torch_state_dict(c: Container, /) -> dict[str, Any]:
    """The leaves as torch tensors by torch's names, ``{"encoder.0.weight": tensor}``.

    Args:
        c: a Container of arrays of any backend; memory is shared where it can be.

    Returns:
        what ``torch.nn.Module.load_state_dict`` takes.

    Raises:
        ArgumentError: a leaf is neither an array nor a number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(fc={"weight": np.ones((2, 3)), "bias": np.zeros(2)})
        >>> {name: tuple(t.shape) for name, t in na.to_torch_state_dict(c).items()}
        {'fc.weight': (2, 3), 'fc.bias': (2,)}
    """
    moved: dict[int, Any] = {}  # an array that occurs twice becomes one tensor
    for path, leaf in c.flat_items():
        if id(leaf) not in moved:
            moved[id(leaf)] = _tensor(path, leaf)
    return {name: moved[id(leaf)] for name, leaf in c.to_flat_dict(".").items()}


def _tensor(path: str, leaf: Any) -> Any:
    import torch

    if isinstance(leaf, (bool, int, float, complex)):
        return torch.as_tensor(leaf)
    if backends.backend_of_type(type(leaf)) is None:
        raise ArgumentError(
            f"to_torch_state_dict: {path!r} is a {type(leaf).__name__}, expected an array or a "
            "number; leave it out with c.exclude(...)"
        )
    return move(leaf, "torch").detach()


@method
def load_into_torch_module(c: Container, /, module: Any) -> Any:
    """Copy the leaves into the parameters and buffers of a ``torch.nn.Module``, in place.

    The inverse of `Container.from_torch_module`. Nothing is written unless everything
    fits. Buffers that `c` does not have stay as they are.

    Args:
        c: a Container of arrays of any backend, nested like the module.
        module: a ``torch.nn.Module``; values are cast to the dtypes of its tensors.

    Returns:
        `module`.

    Raises:
        ArgumentError: `module` is not a ``torch.nn.Module``.
        StructureError: a leaf has no place in the module, a parameter has no leaf, or two
            leaves that are one tensor in the module (tied weights) differ.
        ShapeError: a leaf has another shape than its place.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Linear(3, 2)
        >>> v = na.Container.from_torch_module(net)
        >>> net = na.load_into_torch_module(v * 0 + 1, net)
        >>> net.bias
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """
    import torch

    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(
            f"load_into_torch_module: module: got {type(module).__name__}, "
            "expected a torch.nn.Module"
        )
    new = to_torch_state_dict(c)
    parameters = dict(module.named_parameters(remove_duplicate=False))
    places = parameters | dict(module.named_buffers(remove_duplicate=False))
    _check_names(new, parameters, places, type(module).__name__)
    _check_shapes(new, places)
    _check_tied(new, places)
    with torch.no_grad():
        for name, tensor in new.items():
            places[name].copy_(tensor)
    return module


def _check_names(
    new: dict[str, Any], parameters: dict[str, Any], places: dict[str, Any], module: str
) -> None:
    missing = [name for name in parameters if name not in new]
    unexpected = [name for name in new if name not in places]
    if not missing and not unexpected:
        return
    parts = []
    if missing:
        parts.append(f"no leaf for {_some(missing)}")
    if unexpected:
        near = difflib.get_close_matches(unexpected[0], list(places), n=1)
        hint = f" (the nearest is {near[0]!r})" if near else ""
        parts.append(f"no place for {_some(unexpected)}{hint}")
    raise StructureError(
        f"load_into_torch_module: the Container does not fit {module}: {'; '.join(parts)}. "
        "Nothing was written; rename, exclude or set leaves so that the names are the module's"
    )


def _check_shapes(new: dict[str, Any], places: dict[str, Any]) -> None:
    wrong = [n for n, tensor in new.items() if tensor.shape != places[n].shape]
    if wrong:
        first = wrong[0]
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise ShapeError(
            f"load_into_torch_module: {first!r} has the shape {tuple(new[first].shape)}, expected "
            f"{tuple(places[first].shape)}{more}. Nothing was written"
        )


def _check_tied(new: dict[str, Any], places: dict[str, Any]) -> None:
    import torch

    seen: dict[int, str] = {}
    for name, tensor in new.items():
        other = seen.setdefault(id(places[name]), name)
        if other != name and not torch.equal(tensor, new[other]):
            raise StructureError(
                f"load_into_torch_module: {other!r} and {name!r} are one tensor in the module, but "
                "the Container has different values for them. Nothing was written; set both to "
                "the value that is meant"
            )


def _some(names: list[str]) -> str:
    shown = ", ".join(repr(n) for n in names[:3])
    return shown + (f" and {len(names) - 3} more" if len(names) > 3 else "")

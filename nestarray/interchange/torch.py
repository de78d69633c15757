"""Containers and ``torch.nn.Module``: parameters and state dicts, in both directions; caches."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Mapping
from typing import Any, Literal

from nestarray import backends, lazy_imports
from nestarray.backends.transfer import move
from nestarray.container import Container, constructor, method
from nestarray.dynamo import identity
from nestarray.errors import ArgumentError, StructureError
from nestarray.interchange.caches import cache_nest, is_cache
from nestarray.interchange.fitting import check_names, check_shapes
from nestarray.typing import NUMBERS


@constructor
def from_torch_module(
    module: Any, /, *, buffers: bool | Literal["all"] = False, lists: bool = False
) -> Container:
    """The parameters of a ``torch.nn.Module``, nested by module path, sharing memory.

    Updates of the module by a torch optimizer are visible in the Container;
    ``copy.deepcopy(c)`` copies the present values, for example as the start of a moving
    average. Tied weights are one tensor under each of their names. `load_into_torch_module` is
    the inverse.

    Running statistics are buffers and no parameters: arithmetic and optimizers would change them.
    A transfer to another library (`to_flax`, `load_into_keras`) takes ``buffers=True``.

    Args:
        module: a ``torch.nn.Module``.
        buffers: include the buffers of the state dict (such as running statistics); ``"all"`` also
            those registered with ``persistent=False``.
        lists: convert numbered members, as of ``torch.nn.ModuleList``, to a list.

    Returns:
        a Container of detached tensors, in the order of the module.

    Raises:
        ArgumentError: `module` is not a ``torch.nn.Module``, or `buffers` is another string.

    Example:
        >>> import torch, nestarray as na
        >>> na.Container.from_torch_module(torch.nn.Linear(3, 2)).paths()
        ('weight', 'bias')
    """
    return Container.from_flat_dict(_tensors(module, buffers), ".", lists=lists)


def _tensors(module: Any, buffers: bool | Literal["all"]) -> dict[str, Any]:
    """Name → detached tensor of a torch module's parameters, and optionally buffers.

    A tensor with several names (tied weights) is the same object under all of them.
    """
    if not (hasattr(module, "named_parameters") and hasattr(module, "named_buffers")):
        raise ArgumentError(
            f"Container.from_torch_module: module: got {type(module).__name__}, expected a torch.nn.Module"
        )
    if isinstance(buffers, str) and buffers != "all":
        raise ArgumentError(
            f"Container.from_torch_module: buffers: got {buffers!r}, expected True, False or 'all'"
        )
    persistent = module.state_dict(keep_vars=True) if buffers is True else {}
    tensors: dict[str, Any] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        own = {"prefix": prefix, "recurse": False, "remove_duplicate": False}
        tensors |= dict(part.named_parameters(**own))
        if buffers:  # after the parameters of their module, as in a state dict
            registered = dict(part.named_buffers(**own))
            tensors |= {k: x for k, x in registered.items() if buffers == "all" or k in persistent}
    detached = {identity(tensor): tensor.detach() for tensor in tensors.values()}
    return {name: detached[identity(tensor)] for name, tensor in tensors.items()}


@constructor
def from_torch_cache(cache: Any, /) -> Container:
    """The tensors of a cache of `transformers`, as a traced decoder takes and returns them.

    Args:
        cache: a ``DynamicCache``, a ``StaticCache`` or an ``EncoderDecoderCache``. A
            ``StaticCache`` has no keys before its first call: fill it with
            ``model(tokens, cache=cache)`` and empty it with ``cache.reset()``.

    Returns:
        a Container that shares the memory of the cache.

    Raises:
        ArgumentError: `cache` is no cache.
        UnsupportedError: the cache is quantized or offloaded.

    Example:
        >>> import torch, transformers, nestarray as na
        >>> cache = transformers.DynamicCache()
        >>> _ = cache.update(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 4), layer_idx=0)
        >>> na.Container.from_torch_cache(cache).paths()
        ('layers/0/keys', 'layers/0/values')
    """
    if not is_cache(cache):
        raise ArgumentError(
            f"Container.from_torch_cache: cache: got {type(cache).__name__}, expected a Cache of "
            "transformers"
        )
    return Container(cache_nest(cache))


@constructor
def from_torch_state_dict(state_dict: Mapping[str, Any], /, *, lists: bool = False) -> Container:
    """The tensors of a torch state dict, nested at the dots, sharing memory.

    Names that share one tensor (tied weights) share one leaf. `to_torch_state_dict` is the
    inverse.

    Args:
        state_dict: the result of ``torch.nn.Module.state_dict``, or a loaded copy of it.
        lists: convert nodes with the keys "0" to "n-1" to lists; otherwise these keys stay
            strings.

    Returns:
        a Container of tensors.

    Raises:
        ArgumentError: `state_dict` is not a mapping of names to tensors.
        StructureError: a name is both a tensor and a prefix of another name.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
        >>> na.Container.from_torch_state_dict(net.state_dict()).paths()
        ('0/weight', '0/bias', '1/weight', '1/bias')

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
    """
    function = "Container.from_torch_state_dict"
    if not isinstance(state_dict, Mapping):
        hint = "; it is its state_dict()" if hasattr(state_dict, "state_dict") else ""
        raise ArgumentError(
            f"{function}: state_dict: got {type(state_dict).__name__}, expected a mapping of names "
            f"to tensors{hint}"
        )
    for name, value in state_dict.items():
        if isinstance(value, Mapping) and not _is_extra_state(name):
            raise ArgumentError(
                f"{function}: state_dict: got {type(value).__name__} at {name!r}, expected a tensor; "
                f"give that part of the checkpoint alone, state_dict[{name!r}]"
            )
    return Container.from_flat_dict(_deduplicate_tensors(state_dict), ".", lists=lists)


def _is_extra_state(name: Any) -> bool:
    """Whether an entry is the extra state of a module (``get_extra_state``), of any type."""
    return str(name).replace("/", ".").rpartition(".")[2] == "_extra_state"


def _deduplicate_tensors(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """The entries, detached; names of the same memory and view share one tensor.

    ``state_dict()`` creates a new tensor over the same memory for every name.
    """
    seen: dict[Any, Any] = {}
    entries: dict[str, Any] = {}
    for name, value in state_dict.items():
        if backends.backend_of_type(type(value)) == "torch":
            value = value.detach() if value.requires_grad else value
            value = seen.setdefault(_memory(value), value)
        entries[name] = value
    return entries


def _memory(tensor: Any) -> Any:
    """A key that is equal for tensors over the same memory and view; otherwise unique."""
    import torch

    if tensor.layout is not torch.strided or tensor.is_meta or not tensor.numel():
        return id(tensor)
    layout = (tensor.dtype, tensor.device, tuple(tensor.shape), tensor.stride())
    return tensor.data_ptr(), layout, tensor.is_conj(), tensor.is_neg()


@method
def to_torch_state_dict(c: Container, /) -> dict[str, Any]:
    """The leaves as torch tensors under torch's names, ``{"encoder.0.weight": tensor}``.

    An array that occurs twice becomes one tensor under both names. The inverse of
    `Container.from_torch_state_dict`. Tensors are kept, so
    ``torch.func.functional_call(net, c.to_torch_state_dict(), (x,))`` is differentiable in `c`.

    Args:
        c: a Container of arrays of any backend; memory is shared where possible.

    Returns:
        the argument of ``torch.nn.Module.load_state_dict``.

    Raises:
        ArgumentError: a leaf is neither an array nor a number.
        MissingFrameworkError: PyTorch is not installed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(fc={"weight": np.ones((2, 3)), "bias": np.zeros(2)})
        >>> {name: tuple(t.shape) for name, t in na.to_torch_state_dict(c).items()}
        {'fc.weight': (2, 3), 'fc.bias': (2,)}
    """
    moved: dict[Any, Any] = {}
    for path, leaf in c.flat_items():
        key = identity(leaf)
        if key not in moved:
            moved[key] = leaf if _is_extra_state(path) else _tensor(path, leaf)
    return {name: moved[identity(leaf)] for name, leaf in c.to_flat_dict(".").items()}


def _tensor(path: str, leaf: Any) -> Any:
    torch = lazy_imports.optional("torch", "to_torch_state_dict needs", extra="torch")

    if isinstance(leaf, NUMBERS):
        return torch.as_tensor(leaf)
    if not backends.is_array(leaf):
        raise ArgumentError(
            f"to_torch_state_dict: {path!r} is a {type(leaf).__name__}, expected an array or a "
            "number; leave it out with c.exclude(...)"
        )
    return move(leaf, "torch")


@method
def load_into_torch_module(c: Container, /, module: Any) -> Any:
    """Copy the leaves into the parameters and buffers of a ``torch.nn.Module``, in place.

    The inverse of `Container.from_torch_module`. Nothing is copied unless all leaves fit. Buffers
    may be missing in `c`; for tied weights one name is enough.

    Args:
        c: a Container of arrays of any backend, nested like the module.
        module: a ``torch.nn.Module``; values are cast to the dtypes of its tensors.

    Returns:
        `module`.

    Raises:
        ArgumentError: `module` is not a ``torch.nn.Module``.
        MissingFrameworkError: PyTorch is not installed.
        StructureError: a leaf has no counterpart in the module, a parameter has no leaf, or two
            leaves of one tensor in the module (tied weights) differ.
        ShapeError: a leaf and its parameter or buffer differ in shape.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Linear(3, 2)
        >>> v = na.Container.from_torch_module(net)
        >>> net = na.load_into_torch_module(v * 0 + 1, net)
        >>> net.bias
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """
    torch = lazy_imports.optional("torch", "load_into_torch_module needs", extra="torch")
    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(
            f"load_into_torch_module: module: got {type(module).__name__}, "
            "expected a torch.nn.Module"
        )
    new = to_torch_state_dict(c)
    parameters = dict(module.named_parameters(remove_duplicate=False))
    places = parameters | dict(module.named_buffers(remove_duplicate=False))
    tied = {id(places[name]) for name in new if name in places}  # one name per tensor is enough
    parameters = {k: x for k, x in parameters.items() if k in new or id(x) not in tied}
    advice = "Nothing was written; rename, exclude or set leaves so that the names are the module's"
    check_names("load_into_torch_module", type(module).__name__, new, parameters, places, advice)
    check_shapes("load_into_torch_module", new, places)
    _check_tied(new, places)
    with torch.no_grad():
        for name, tensor in new.items():
            places[name].copy_(tensor)
    return module


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


def tensor_text(tensor: Any) -> str:
    """A tensor of any layout and dtype as text, for `tensor_of_text`."""
    import torch

    file = io.BytesIO()
    torch.save(tensor.detach(), file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def tensor_of_text(text: str) -> Any:
    """The tensor of a `tensor_text`; runs no code of it."""
    import torch

    with warnings.catch_warnings():  # that sparse layouts are in beta
        warnings.simplefilter("ignore")
        return torch.load(io.BytesIO(base64.b64decode(text)), weights_only=True)

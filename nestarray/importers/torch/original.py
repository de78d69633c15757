"""The module itself, called eagerly: the reference for the exported program.

An export may differ from its module: a hook, a write or a custom gradient is lost. A proof that
compares the graph with the program alone cannot see that. So a copy of the module is called once,
with the variables of the graph; the user's module is not touched.
"""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from nestarray.errors import UnsupportedError
from nestarray.errors.foreign import foreign
from nestarray.graph.graph import Graph
from nestarray.importers.torch.exporting import in_mode
from nestarray.importers.torch.outputs import plain_output
from nestarray.proof.source import Loss, Result


def call_copy(
    module: Any, graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any], loss: Loss | None
) -> Result:
    """Call a copy of `module` with the variables of `graph`; see `Source.original`."""
    copied = copy_of(module)
    of_path = {**dict(graph.v.flat_items()), **dict(graph.s.flat_items())}
    named = {name.replace(".", "/"): x for name, x in _variables(copied)}
    with torch.no_grad():
        for path, x in named.items():
            if path in of_path and not torch.equal(x, of_path[path]):
                x.copy_(of_path[path])
    argument = torch.clone if loss is None else _leaf
    args, kwargs = tree_map_only(torch.Tensor, argument, (args, kwargs))
    leaves = [*(named[path] for path in graph.v.paths()), *graph.bind(args, kwargs)]
    output: Any = None

    def call() -> Any:
        nonlocal output
        output = plain_output(copied(*args, **kwargs))
        return None if loss is None else loss(output)

    torch.manual_seed(0)  # a proof restores the state
    with in_mode(copied, graph.train), foreign(kind=UnsupportedError):
        found = None
        if loss is None:
            call()
        else:
            found = _gradients(call, leaves)
    named = {n.replace(".", "/"): x for n, x in _variables(copied)}  # forward may assign some
    paths = dict.fromkeys((*graph.s.paths(), *graph.state_updates))  # and overwritten parameters
    return Result(output, {path: named[path].detach() for path in paths}, found)


def _variables(module: Any) -> Iterator[tuple[str, Any]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def copy_of(module: Any) -> Any:
    """A copy of `module`, without the history of tensors that it has computed.

    Raises:
        UnsupportedError: the module cannot be copied.
    """
    computed = [  # by a forward pre-hook, as of pruning; torch refuses to copy these
        x
        for part in module.modules()
        for x in vars(part).values()
        if isinstance(x, torch.Tensor) and not x.is_leaf
    ]
    with foreign(kind=UnsupportedError):
        new = copy.deepcopy(module, {id(x): x.detach().clone() for x in computed})
    forward = vars(new).get("forward")
    if isinstance(forward, types.FunctionType):  # that uses its modules by name
        new.forward = _with_modules(forward, new._modules)
    return new


def _with_modules(function: types.FunctionType, modules: Any) -> types.FunctionType:
    """`function` with other modules in its globals and its closure, by name."""
    cells = [
        types.CellType(modules[name]) if name in modules else cell
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        )
    ]
    new = types.FunctionType(
        function.__code__,
        {**function.__globals__, **modules},
        function.__name__,
        function.__defaults__,
        tuple(cells),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new


# -- gradients ----------------------------------------------------------------------------------


#: The words of torch's errors for operations without a derivative. The last is raised for a
#: `torch.cond` with an integer among its results.
_NO_DERIVATIVE = (
    "is not implemented",
    "does not support automatic differentiation",
    "outs_to_grad length",
)


class ConstantArgument(UnsupportedError):
    """An input has no derivative, such as the target of a loss."""


def _leaf(x: Any) -> Any:
    """A copy of a tensor that requires a gradient, if its dtype has one."""
    new = x.detach().clone()
    return new.requires_grad_(x.is_floating_point() or x.is_complex())


@contextlib.contextmanager
def derivatives() -> Iterator[None]:
    """Differentiate in this context by torch.

    Raises:
        UnsupportedError: torch has no derivative of an operation.
    """
    try:
        # cuDNN has no derivative of recurrent layers in evaluation
        with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            yield
    except (NotImplementedError, RuntimeError, AssertionError) as error:
        reason = str(error).partition(". ")[0].rstrip(".")
        if "is not differentiable with respect to" in reason:
            raise ConstantArgument(f"verify: PyTorch: {reason}") from error
        if not any(words in reason for words in _NO_DERIVATIVE):
            raise
        raise UnsupportedError(f"verify: PyTorch: {reason}") from error


def _gradients(total: Callable[[], Any], leaves: Sequence[Any]) -> list[Any]:
    """∂total()/∂x for each leaf x; None for one that does not require a gradient."""
    with derivatives():
        value = total()
        for x in leaves:  # a forward may call backward()
            x.grad = None
        if value.requires_grad:  # else nothing depends on them
            value.backward()  # reentrant checkpoints refuse torch.autograd.grad
    return [
        (torch.zeros_like(x) if x.grad is None else x.grad) if x.requires_grad else None
        for x in leaves
    ]

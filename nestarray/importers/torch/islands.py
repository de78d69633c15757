"""Operations of torch's dispatcher as islands; see `nestarray.graph.island`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from nestarray import backends, dtypes
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.graph.node import iter_nodes
from nestarray.importers import islands

Tensors = tuple[Any, ...]


class TorchOperation(islands.HostOperation):
    """A function of a flat list of tensors."""

    framework, remedy = "torch", "give it one with torch.library.register_autograd"

    def value(self, *arrays: Any) -> Tensors:
        """The results, without a record for autograd."""
        with torch.no_grad():
            return self.function(*arrays)

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of each result, by a run on fake tensors."""
        from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode

        is_known = all(None not in shape for shape, _ in arrays)
        native = backends.core("torch").native_dtype
        with FakeTensorMode(), torch.no_grad():
            fakes = [
                torch.empty([2 if n is None else n for n in shape], dtype=native(dtype))
                for shape, dtype in arrays
            ]
            try:
                results = self.function(*fakes)
            except DynamicOutputShapeException as error:
                raise UnsupportedError(
                    f"island: the shape of the result of {self.name} depends on values, which a "
                    "compiled program cannot have; call the graph without compiling it"
                ) from error
        return [
            (tuple(y.shape) if is_known else (None,) * y.ndim, dtypes.dtype_of(y)) for y in results
        ]


def _find(name: str) -> Any:
    """The ``OpOverload`` of a name such as ``"aten::sin"``.

    Raises:
        MissingOpError: torch has none.
    """
    library, _, operation = name.partition("::")
    base, _, overload = operation.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, library), base), overload or "default")
    except AttributeError:
        raise MissingOpError(
            f"island: torch has no operation {name!r}; import the package that registers it "
            "with torch.library"
        ) from None


HOST = islands.Host(_find, TorchOperation)


def why_not(target: Any) -> str:
    """Why an operation cannot be an island; empty if it can."""
    schema = getattr(target, "_schema", None)
    if getattr(target, "__name__", "").startswith("auto_functionalized"):
        return "it writes into its arguments; register one that returns the new values"
    if not isinstance(target, torch._ops.OpOverload) or schema is None:
        return "it is not an operation of torch's dispatcher"
    if torch.Tag.nondeterministic_seeded in target.tags:
        return "it draws random numbers from torch's own generator"
    others = [str(r.type) for r in schema.returns if str(r.type) not in ("Tensor", "List[Tensor]")]
    if not schema.returns:
        return "it returns nothing"
    return f"it returns {others[0]}" if others else ""


def island_arguments(
    target: Any, named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of `island` for a call of an operation.

    Args:
        target: the operation.
        named: arguments by the names of its schema, with Nodes for arrays; those at their
            default may be left out.
    """
    schema = target._schema
    overload = f".{schema.overload_name}" if schema.overload_name else ""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    last = max((i for i, a in enumerate(positional) if a.name in named), default=-1)
    args = [named.get(a.name, a.default_value) for a in positional[: last + 1]]
    kwargs = {a.name: named[a.name] for a in schema.arguments if a.kwarg_only and a.name in named}
    nodes = iter_nodes([args, [value for _, value in sorted(kwargs.items())]])
    takes = tuple([node.aval.dtype for node in nodes if node.aval is not None])
    if any(dtype.is_integer and dtype.bits == 64 for dtype in takes):
        kwargs["takes"] = takes
    return (f"{schema.name}{overload}", *args), kwargs

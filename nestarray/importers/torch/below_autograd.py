"""Modules whose forward computes derivatives: traced below autograd, then exported.

``torch.export`` records calls above autograd, so it cannot record ``torch.autograd.grad`` or
``torch.func`` in a forward: the forces of a potential, the residual of a differential equation,
an ensemble under ``vmap``. ``make_fx`` records the operations below autograd and transformations,
including backward operations, but loses the places where gradients stop: a recorded ``detach``
may be the user's or autograd's own, which uses it to load saved values. So all are dropped, and
the results of ``detach``, of ``no_grad`` and of derivatives without ``create_graph`` are detached
again.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot, make_fx
from torch.fx.passes.runtime_assert import insert_deferred_runtime_asserts
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from nestarray.importers.torch.aliases import is_inexact
from nestarray.importers.torch.size_names import chooses_strides, guard_origin
from nestarray.importers.torch.workarounds import embeddings

#: Messages of ``torch.export`` about values that it did not record.
_UNSEEN = re.compile(
    r"fake tensor in the exported program constant|object has no attribute 'constant'|functorch|"
    r"not tracked with proxy|storage of TensorWrapper|Current active mode"
)

_DECOMPOSED = re.compile(r"_backward|aten\._?native_\w*norm")


def needs_autograd(error: Exception) -> bool:
    """Whether an export failed because forward computes derivatives."""
    return bool(_UNSEEN.search(str(error)))


def traced(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any = None) -> Any:
    """`module` with a forward of recorded ATen calls, for arguments of the example's shapes."""
    from torch._export.non_strict_utils import make_fake_inputs

    # fake tensors of the exporter, so that every exportable example can be recorded
    mode, *example = make_fake_inputs(module, args, kwargs, shapes)[:3]
    state = {n: mode.from_tensor(x, static_shapes=True) for n, x in _variables(module).items()}
    flat, structure = tree_flatten(tuple(example))
    tensors = [x for x in flat if isinstance(x, torch.Tensor)]
    shape_env: Any = mode.shape_env
    conditions = Conditions(shape_env, tensors)
    outputs: list[Any] = []
    stopped: list[Any] = []

    def program(state: dict[str, Any], tensors: list[Any]) -> list[Any]:
        values = iter(tensors)
        filled = [next(values) if isinstance(x, torch.Tensor) else x for x in flat]
        args, kwargs = tree_unflatten(filled, structure)
        with _collect_gradient_stops(stopped):
            output = torch.func.functional_call(module, state, args, kwargs, tie_weights=True)
        leaves, spec = tree_flatten(output)
        outputs[:] = [spec]
        return leaves

    # recurrent layers step by step, since oneDNN's single operation has no derivative, and
    # attention in parts, since the single operation has no second derivative and no rule for vmap
    with (
        torch.backends.mkldnn.flags(enabled=False),
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        recorded = make_fx(program, _recorded_decompositions(), tracing_mode="symbolic")(
            state, tensors
        )
    insert_deferred_runtime_asserts(recorded, shape_env, type(module).__name__, export=True)
    _detach_only(recorded, {node.name for node in stopped})
    result = copy.copy(module)

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        flat, _ = tree_flatten((args, kwargs))
        tensors = [x for x in flat if isinstance(x, torch.Tensor)]
        module.watch(tensors)
        conditions.ask(tensors)
        return tree_unflatten(recorded(_variables(self), tensors), outputs[0])

    forward.__signature__ = inspect.signature(type(module).forward)  # type: ignore[attr-defined]
    result.forward = types.MethodType(forward, result)
    return result


class Conditions:
    """Conditions on open sizes from a recording, to be repeated in the export.

    A recorded program does not contain ``if x.shape[0] > 5``; the exporter needs the condition.

    Args:
        shape_env: torch's ``ShapeEnv`` with the guards.
        tensors: the arguments, before the first guard.
    """

    def __init__(self, shape_env: Any, tensors: list[Any]) -> None:
        self._shape_env = shape_env
        self._places = {
            size.node.expr: (i, axis)
            for i, tensor in enumerate(tensors)
            for axis, size in enumerate(tensor.shape)
            if not isinstance(size, int)
        }

    def ask(self, tensors: list[Any]) -> None:
        """Check the same conditions for the sizes of `tensors`."""
        from torch.utils._sympy.interp import sympy_interp
        from torch.utils._sympy.reference import PythonReferenceAnalysis

        sizes = {symbol: tensors[i].shape[axis] for symbol, (i, axis) in self._places.items()}
        for guard in self._shape_env.guards:
            # guards of fake tensors occur again in the export
            if guard_origin(guard) != "_subclasses" and not chooses_strides(guard, guard.expr):
                torch._check(sympy_interp(PythonReferenceAnalysis, sizes, guard.expr))


def _recorded_decompositions() -> dict[Any, Any]:
    """Decompositions for the recording.

    They cover backward operations, and operations that also return statistics or factors for
    their backward: autograd has no derivatives of these.
    """
    from torch._decomp import core_aten_decompositions, decomposition_table

    table = {**decomposition_table, **core_aten_decompositions()}
    parts_of = {call: parts for call, parts in table.items() if _DECOMPOSED.search(str(call))}
    aten = torch.ops.aten
    return parts_of | {
        aten._linalg_det.default: _determinant,
        aten._linalg_slogdet.default: _signed_logarithm,
        aten._linalg_solve_ex.default: _solution,
        aten._embedding_bag.default: embeddings.bags,
        # a special zero tensor, whose operations compute on the device "meta"
        aten._efficientzerotensor.default: _zeros,
        aten._new_zeros_with_same_feature_meta.default: _zeros_of_a_tangent,
        aten._linalg_check_errors.default: lambda *_, **__: None,  # a graph checks no values
    }


def _zeros(size: Any, dtype: Any = None, **settings: Any) -> Any:
    """Zeros; 0-d zeros have the default dtype, since they are tangents of Python numbers.

    torch makes such tangents float64, with a mark as weakly typed that recordings lack.
    """
    if not size and dtype is torch.float64:
        dtype = torch.get_default_dtype()
    return torch.zeros(size, dtype=dtype, **settings)


def _zeros_of_a_tangent(like: Any, other: Any, *, self_num_batch_dims: int = 0) -> Any:
    return other.new_zeros((*like.shape[:self_num_batch_dims], *other.shape))


def _factors(A: Any) -> tuple[Any, Any, Any, bool]:
    """LU factors, pivots and error codes; of the transpose in the cases in which ATen uses it."""
    is_transposed = A.is_contiguous() and not A.is_complex()
    return *torch.linalg.lu_factor_ex(A.mT if is_transposed else A), is_transposed


def _parity(LU: Any, pivots: Any) -> Any:
    """The sign of the row permutation."""
    rows = torch.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    return (1 - 2 * ((pivots != rows).sum(-1) % 2)).to(LU.dtype)


def _determinant(A: Any) -> tuple[Any, Any, Any]:
    LU, pivots, _, _ = _factors(A)
    return LU.diagonal(0, -2, -1).prod(-1) * _parity(LU, pivots), LU, pivots


def _signed_logarithm(A: Any) -> tuple[Any, Any, Any, Any]:
    LU, pivots, _, _ = _factors(A)
    diagonal = LU.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1) * _parity(LU, pivots)
    return sign, diagonal.abs().log().sum(-1), LU, pivots


def _solution(
    A: Any, B: Any, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, Any, Any, Any]:
    LU, pivots, info, is_transposed = _factors(A)
    is_vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and A.shape[:-1] == B.shape)
    matrix = B.unsqueeze(-1) if is_vector else B
    result = torch.linalg.lu_solve(LU, pivots, matrix, left=left, adjoint=is_transposed)
    return result.squeeze(-1) if is_vector else result, LU, pivots, info


def _variables(module: Any) -> dict[str, Any]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


@contextlib.contextmanager
def _collect_gradient_stops(found: list[Any]) -> Iterator[None]:
    """Collect in `found` the recorded nodes at which gradients stop, while a forward runs."""

    def note(value: Any) -> Any:
        for x in tree_leaves(value):
            mode = get_proxy_mode()
            if mode is None or not is_inexact(x):
                continue
            slot = get_proxy_slot(x, mode.tracer, None)
            if slot is not None:
                found.append(slot.proxy.node)
        return value

    class Stops(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if function is torch.autograd.grad:
                return differentiated(*args, **(kwargs or {}))
            value = function(*args, **(kwargs or {}))
            stops = not torch.is_grad_enabled() or function in detaching
            # after backward() with create_graph=True, a gradient requires a gradient
            stops |= function == gradient and value is not None and not value.requires_grad
            return note(value) if stops else value

    gradient = torch.Tensor.grad.__get__  # type: ignore[attr-defined]
    detaching = {
        torch.detach,
        torch.Tensor.detach,
        torch.Tensor.detach_,
        torch.Tensor.data.__get__,  # type: ignore[attr-defined]
    }
    grad = torch.autograd.grad
    signature = inspect.signature(grad)

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        found = grad(*args, **kwargs)
        return found if given.get("create_graph") else note(found)

    with Stops():
        yield


def _detach_only(recorded: Any, stops: set[str]) -> None:
    """Remove each ``detach`` of a recorded program, and insert one after each node of `stops`."""
    for node in list(recorded.graph.nodes):
        if node.target is torch.ops.aten.detach.default and node.name not in stops:
            node.replace_all_uses_with(node.args[0])
            recorded.graph.erase_node(node)
        elif node.name in stops and node.target is not torch.ops.aten.detach.default:
            with recorded.graph.inserting_after(node):
                cut = recorded.graph.call_function(torch.ops.aten.detach.default, (node,))
            node.replace_all_uses_with(cut)
            cut.args = (node,)
    recorded.recompile()

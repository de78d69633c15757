"""The interface of a backend: the files of ``backends/<name>`` and their functions.

A backend is a package with three kinds of files:

- ``core.py``, ``generators.py`` and ``promotion.py``, which every backend has;
- ``transforms.py``, ``control_flow.py``, ``collectives.py``, ``foreach.py`` and ``bodies.py``,
  for capabilities of the framework; nestarray has a substitute for each of them;
- chapters such as ``elementwise.py``, which define native functions of ops under the op's name,
  with the op's signature. An op without a native function runs its default body.

`REQUIRED` and `OPTIONAL` name the protocols of each file; a backend defines all functions of a
protocol or none. A backend may add keyword arguments with defaults for its own callers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from nestarray.dtypes import DType

Function = Callable[..., Any]
Arrays = tuple[Any, ...]
#: The shape and the dtype of an array.
Spec = tuple[Any, Any]


class Core(Protocol):
    """``core.py``: arrays, dtypes and devices."""

    NAME: str

    def is_array_type(self, cls: type) -> bool:
        """Whether instances of `cls` are arrays of this backend."""
        ...

    def is_abstract(self, x: Any) -> bool:
        """Whether `x` has a shape and a dtype but no values."""
        ...

    def is_traced(self, x: Any) -> bool:
        """Whether `x` represents an array in a function that is being traced."""
        ...

    def native_dtype(self, dtype: Any) -> Any:
        """The framework's dtype for any spelling of a dtype.

        Raises:
            DtypeError: the framework lacks it.
        """
        ...

    def widest_float(self, x: Any) -> DType:
        """float64, or float32 where the framework or the device of `x` lacks float64."""
        ...

    def device_of(self, x: Any) -> str:
        """The name of the device of `x`."""
        ...

    def devices(self) -> list[str]:
        """The names of all devices."""
        ...

    def to_device(self, x: Any, device: Any) -> Any:
        """`x` on `device`."""
        ...

    def device_to_share(self, like: Any) -> Any:
        """The device for an array created from `like`; None for the framework's default."""
        ...

    def from_numpy(self, x: np.ndarray, device: Any = None) -> Any:
        """An array of this backend with the values of a NumPy array; shares memory if possible."""
        ...

    def to_numpy(self, x: Any) -> np.ndarray:
        """A NumPy array with the values of `x`; shares memory if possible."""
        ...

    def for_dlpack(self, x: Any) -> Any:
        """An object that exports the memory of `x` by DLPack; None if impossible."""
        ...

    def copied(self, x: Any) -> Any:
        """A copy of `x` in new memory."""
        ...

    def address(self, x: Any) -> int | None:
        """The address of the memory of `x`; None if unknown."""
        ...

    def why_constant(self, x: Any) -> str | None:
        """The kind of `x` for errors, if it cannot be written; else None."""
        ...

    def block_until_ready(self, x: Any) -> Any:
        """Wait until `x` is computed, and return it."""
        ...


class Writes(Protocol):
    """``core.py``: arrays that can be changed."""

    def write(self, x: Any, value: Any) -> None:
        """Replace the elements of `x` by those of `value`, of its shape and dtype."""
        ...


class DLPack(Protocol):
    """``core.py``: import of memory; NumPy shares memory by `Core.from_numpy`."""

    def from_dlpack(self, x: Any) -> Any:
        """An array over the memory of an object that exports DLPack."""
        ...


class TraceEscape(Protocol):
    """``core.py``: computation outside of a trace."""

    def outside_of_traces(self) -> Any:
        """A context in which computation is not traced."""
        ...


class StandIns(Protocol):
    """``core.py`` of NumPy: objects that other parts of nestarray use as NumPy arrays."""

    def stands_in(self, x: Any) -> bool:
        """Whether `x` is an array whose derivative is being taken."""
        ...

    def is_masked(self, cls: type) -> bool:
        """Whether `cls` is ``np.ma.MaskedArray``, which nestarray rejects."""
        ...


class Promotion(Protocol):
    """``promotion.py``: the conversion that mixed dtypes need."""

    def cast(self, x: Any, dtype: Any, like: Any = None) -> Any:
        """An array as an array of `dtype`; a Python number as one on the device of `like`."""
        ...


class Generators(Protocol):
    """``generators.py``: the framework's own generator, seeded by four words of uint32."""

    def bits(self, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Uniform unsigned integers over the whole range of `dtype`."""
        ...

    def uniform(self, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Uniform numbers in [0, 1)."""
        ...

    def normal(self, key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Standard normal numbers."""
        ...

    def gamma(self, key: Any, a: Any) -> Any:
        """Gamma numbers of shape parameter `a` and scale 1."""
        ...

    def poisson(self, key: Any, lam: Any, dtype: Any) -> Any:
        """Poisson numbers of rate `lam`; −1 for an invalid rate."""
        ...

    def integers(self, key: Any, low: int, high: int, shape: tuple[int, ...], dtype: Any) -> Any:
        """Uniform integers in [low, high)."""
        ...

    def order(self, key: Any, size: int) -> Any:
        """A random permutation of 0, …, size − 1."""
        ...


class Transforms(Protocol):
    """``transforms.py``: derivatives and vectorization of functions of flat lists of arrays.

    NumPy has none; `nestarray.transforms.autodiff` implements them. `name` is the public
    function, for error messages.
    """

    def value_and_grad(
        self, fn: Function, leaves: list[Any], has_aux: bool, name: str
    ) -> tuple[Any, Any, list[Any]]:
        """Return (value, aux, gradients) of ``fn(*leaves) → (value, aux)``."""
        ...

    def vjp(self, fn: Function, arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
        """Return (outputs, other results, pullback) of ``fn(*arrays) → (outputs, others)``."""
        ...

    def jvp(
        self, fn: Function, arrays: list[Any], tangents: list[Any], name: str
    ) -> tuple[Any, Any, Any]:
        """Return (outputs, other results, tangents of the outputs)."""
        ...

    def custom_vjp(
        self,
        value: Function,
        with_residuals: Function,
        pull: Function,
        arrays: list[Any],
        push: Function | None,
    ) -> Any:
        """Call ``value(*arrays)`` with derivatives defined by `pull` and `push`.

        Args:
            value: the function.
            with_residuals: ``(*arrays) → (outputs, residuals)``.
            pull: ``(residuals, cotangents) → gradients``, None for zeros.
            arrays: the arguments.
            push: ``(primals, tangents) → (outputs, tangents of the outputs)``; None: the
                transposed pullback.
        """
        ...

    def without_gradient(self, x: Any) -> Any:
        """An argument of `custom_vjp` whose gradient is None.

        `x`, unless the framework would pass zeros on through loops.
        """
        ...

    def checkpoint(self, fn: Function, arrays: list[Any], policy: Any) -> Any:
        """Call ``fn(*arrays)``; its derivative computes intermediate values again."""
        ...

    def vmap(self, fn: Callable[..., Arrays], arrays: list[Any]) -> Any:
        """Vectorize `fn` over the first axis of all arrays; return batched outputs."""
        ...

    def vmap_with_common(
        self, fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
    ) -> tuple[Any, Any, list[int]]:
        """Vectorize ``fn(*rows) → (batched, unbatched)`` over the first axis.

        Returns:
            batched outputs, unbatched outputs, and the indices of unbatched outputs that differ
            between rows.
        """
        ...


class Linearization(Protocol):
    """``transforms.py``: a forward-mode program that is computed once."""

    def linearize(self, fn: Function, arrays: list[Any]) -> tuple[Any, Any, Any]:
        """Return (outputs, other results, linear function of tangents)."""
        ...


class Jit(Protocol):
    """``transforms.py``: a compiler for functions of pytrees (JAX)."""

    def jit(self, fn: Function, options: dict[str, Any]) -> Function:
        """Compile `fn`."""
        ...


class LeafCompiler(Protocol):
    """``transforms.py``: a compiler for functions of flat tensors (PyTorch, TensorFlow)."""

    def compile_leaves(
        self,
        fn: Callable[..., Arrays],
        arrays: list[Any],
        options: dict[str, Any],
        donated: Sequence[int],
    ) -> Callable[..., Arrays]:
        """Trace and compile `fn` for arrays like `arrays`; it may overwrite the `donated` ones."""
        ...

    def runs_inline(self, arrays: list[Any]) -> bool:
        """Whether a jitted function runs uncompiled, for example inside another trace."""
        ...

    def trace_guard(self, arrays: list[Any]) -> Callable[[list[Any]], bool]:
        """A test whether a trace made with `arrays` is valid for other arrays."""
        ...


class AbstractEvaluation(Protocol):
    """``transforms.py``: calls on shapes and dtypes; NumPy has no abstract arrays."""

    def call_without_numbers(self, fn: Function, arrays: Sequence[Spec]) -> None:
        """Call `fn` on abstract arrays; raises its errors."""
        ...


class HostCalls(Protocol):
    """``transforms.py``: calls from compiled code to Python; NumPy calls directly."""

    def host_call(self, fn: Function, arrays: Sequence[Any], results: Sequence[Spec]) -> Arrays:
        """Call ``fn(*arrays)`` on the host, with results of the given shapes and dtypes."""
        ...


class ControlFlow(Protocol):
    """``control_flow.py``: branches and loops over tuples of arrays.

    A backend defines the functions that its framework can trace; `nestarray.backends.control_flow`
    has Python versions of the others, and of all of them for recorded values.
    """

    def static_value(self, x: Any) -> Any:
        """The value of a scalar; None if it is traced."""
        ...

    def cond(self, pred: Any, true_branch: Any, false_branch: Any) -> Any:
        """The results of one of two branches without arguments."""
        ...

    def switch(self, index: Any, branches: Any) -> Any:
        """The results of the branch of number `index`, which is in range."""
        ...

    def while_loop(self, test: Any, body: Any, carry: Any, max_steps: int | None) -> Any:
        """Apply `body` while `test` holds, at most `max_steps` times."""
        ...

    def fori_loop(
        self,
        lower: int,
        upper: int,
        body: Any,
        carry: Any,
        like: Any,
        *,
        unroll: int | bool | None = None,
    ) -> Any:
        """Apply ``body(i, carry)`` for i from `lower` to `upper` − 1, i an array like `like`."""
        ...

    def scan(
        self,
        step: Any,
        carry: Any,
        xs: Any,
        length: int | None = None,
        *,
        reverse: bool = False,
        unroll: int | bool = 1,
    ) -> Any:
        """Apply ``step(carry, row) → (carry, result)`` over the first axis; stack the results."""
        ...

    def associative_scan(self, combine: Any, elems: Any, axis: int, reverse: bool) -> Any:
        """All prefixes x₀ ∘ x₁ ∘ … along `axis`."""
        ...


class Gather(Protocol):
    """``collectives.py``: access to all examples of a mapped function (PyTorch)."""

    def gather(self, x: Any, index: Any, size: int) -> Any:
        """The values of `x` in all examples, on a new first axis; `index` numbers the example."""
        ...


class RowCollectives(Protocol):
    """``collectives.py``: for backends that call a mapped function once per row."""

    def derivative_state(self) -> Any:
        """The derivatives and traces that are active when the mapped function begins."""
        ...

    def obstacle(self, state: Any) -> str | None:
        """The reason why values cannot be exchanged between examples here; None if they can."""
        ...

    def is_differentiated(self, x: Any, state: Any) -> bool:
        """Whether a derivative of `x` began after `state`."""
        ...

    def linear(
        self,
        value: Callable[[Any], Any],
        again: Callable[[Any], Any],
        transpose: Callable[[Any], Any],
        x: Any,
        state: Any,
    ) -> Any:
        """``value(x)``, a linear function of the values of all examples, with its derivative.

        Args:
            value: the function of plain arrays.
            again: the collective itself, for derivatives of higher order.
            transpose: the transposed function.
            x: the value of this example.
            state: see `derivative_state`.
        """
        ...


class NamedAxes(Protocol):
    """``collectives.py``: the framework's own collectives over named axes (JAX)."""

    psum: Function
    pmean: Function
    pmax: Function
    pmin: Function
    all_gather: Function
    axis_index: Function
    axis_size: Function


class Foreach(Protocol):
    """``foreach.py``: one native call for all leaves of a tree.

    The file also defines functions of the names of ops (PyTorch), or `CompiledForeach`.
    """

    def covers(self, t: type) -> bool:
        """Whether leaves of type `t` can take part."""
        ...


class CompiledForeach(Protocol):
    """``foreach.py``: one compiled call for all leaves."""

    def of_op(self, function: Function) -> Callable[..., Arrays | None]:
        """`function` of a leaf as a function of all leaves; it may return None."""
        ...


class Bodies(Protocol):
    """``bodies.py``: default bodies on dtypes that the framework supports in part."""

    def adapted(self, body: Function, promoted: Sequence[str]) -> Function:
        """`body` for arguments of every dtype; `promoted` names the arguments that promote."""
        ...


class TypedKeys(Protocol):
    """``keys.py``: arrays of the framework that are keys of random numbers (JAX)."""

    def is_typed(self, key: Any) -> bool:
        """Whether `key` is a typed key."""
        ...

    def words_of(self, key: Any) -> Any:
        """The uint32 words of a key."""
        ...

    def typed_like(self, key: Any, words: Any) -> Any:
        """Words as a typed key of the kind of `key`."""
        ...


#: File → the protocols that every backend defines.
REQUIRED: dict[str, tuple[type, ...]] = {
    "core": (Core,),
    "promotion": (Promotion,),
    "generators": (Generators,),
    "transforms": (Transforms,),
}

#: File → the protocols of which a backend defines all functions or none.
OPTIONAL: dict[str, tuple[type, ...]] = {
    "core": (Writes, DLPack, TraceEscape, StandIns),
    "transforms": (Linearization, Jit, LeafCompiler, AbstractEvaluation, HostCalls),
    "collectives": (Gather, RowCollectives, NamedAxes),
    "foreach": (Foreach, CompiledForeach),
    "bodies": (Bodies,),
    "keys": (TypedKeys,),
}

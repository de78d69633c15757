"""`Module`: layers hold settings, variables are Containers, and calls have no side effects.

A module declares its variables (`variables`) and state (`states`) as shapes and initializers; its
children are the modules among its attributes. `init` draws each value from a key folded from the
variable's path, and returns a copy that holds them as two Containers nested by attribute name:
`v` (trained) and `s` (not trained). The children hold no values.

A call of the root module opens a frame with its variables, state, training flag and key. Inside
`forward`, ``self.weight`` and ``self.child(x)`` find their part of the frame by the path of the
module below the root, and new states are collected in it. The frame is a context variable, so
calls in threads, in gradients and under ``jit`` are independent. A module with several parents
has one path, the first, and so shares its variables.
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from nestarray import dtypes, ops, random, tree
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.container.spec import Spec, explain_mismatch
from nestarray.display.table import Table
from nestarray.dynamo import ContextVariable, compile_time_constant, is_compiling
from nestarray.errors import (
    ArgumentError,
    PathError,
    ShapeError,
    StructureError,
    UnknownSizeError,
)
from nestarray.errors.text import NEW_VARIABLES, listed
from nestarray.errors.unknown_names import hint, unknown_attribute
from nestarray.nn.frame import Frame, running_frame
from nestarray.nn.initializers import Initializer
from nestarray.transforms.enclosing import States
from nestarray.typing import Array, DTypeLike

M = TypeVar("M", bound="Module")


class Variable(NamedTuple):
    """The declaration of a variable: shape, initializer and dtype.

    Example:
        >>> import numpy as np, nestarray as na
        >>> class Scale(na.nn.Module):
        ...     def variables(self):
        ...         return {"scale": na.nn.Variable((3,), na.nn.initializers.ones)}
        ...     def forward(self, x):
        ...         return x * self.scale
        >>> Scale().init(na.random.key(0))(np.full(3, 2.0, "float32"))
        array([2., 2., 2.], dtype=float32)
    """

    shape: tuple[int, ...]
    initializer: Initializer
    dtype: DTypeLike = "float32"


#: Modules whose `variables` or `states` are running: their missing attributes are not variables.
_declaring: ContextVariable[frozenset[int]] = ContextVariable(
    "nestarray_declaring", default=frozenset()
)


class Module:
    """A layer, or a model made of layers. Subclasses define `__init__` and `forward`.

    Children are the modules that `__init__` assigns to attributes, alone or in lists,
    tuples and dicts. A layer declares its variables in `variables` and reads them as
    attributes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> class MLP(na.nn.Module):
        ...     def __init__(self, sizes):
        ...         self.fc1 = na.nn.Linear(sizes[0], sizes[1])
        ...         self.fc2 = na.nn.Linear(sizes[1], sizes[2])
        ...
        ...     def forward(self, x):
        ...         return self.fc2(na.relu(self.fc1(x)))
        >>> net = MLP((2, 3, 1)).init(na.random.key(0))
        >>> net.v.paths()
        ('fc1/weight', 'fc1/bias', 'fc2/weight', 'fc2/bias')
        >>> x = np.ones((5, 2), np.float32)
        >>> net(x).shape, net(x, v=net.v * 0).sum()
        ((5, 1), np.float32(0.0))
    """

    if TYPE_CHECKING:  # attached on first use
        from nestarray.exporters.native import to_equinox_module as to_equinox_module
        from nestarray.exporters.native import to_flax_module as to_flax_module
        from nestarray.exporters.native import to_haiku_module as to_haiku_module
        from nestarray.exporters.native import to_keras_model as to_keras_model
        from nestarray.exporters.native import to_linen_module as to_linen_module
        from nestarray.exporters.native import to_tf_module as to_tf_module
        from nestarray.exporters.native import to_torch_module as to_torch_module

    # -- for subclasses --------------------------------------------------------------------

    #: A setting that may be None, and the axis of the first input of a call whose size it is.
    #: The attribute is missing while it is None, until `init` has seen an input.
    inferred: ClassVar[tuple[str, int] | None] = None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; subclasses define it. Call the module instead.

        Raises:
            ArgumentError: a subclass does not define it.
        """
        raise ArgumentError(f"{type(self).__name__}: has no forward method; define it in the class")

    def variables(self) -> Mapping[str, Variable]:
        """The trainable variables of this module itself, without its children's; see `Variable`."""
        return {}

    def states(self) -> Mapping[str, Variable]:
        """The state of this module itself, such as running statistics."""
        return {}

    def children(self) -> Mapping[str, Module]:
        """The child modules by name; ``blocks/0`` is the first of a list ``blocks``."""
        found: dict[str, Module] = {}
        for name, value in vars(self).items():
            if not name.startswith("_"):
                found.update(_modules_in(name, value))
        return found

    # -- variables -------------------------------------------------------------------------

    def init(self: M, key: Array, *args: Any, **kwargs: Any) -> M:
        """A copy with variables and state on the backend of `key`.

        Each value is drawn from ``na.random.fold_in(key, path)``, so that adding a layer
        does not change the other values.

        Args:
            key: as made by ``na.random.key``.
            *args, **kwargs: example inputs of `forward`. A call with them finds the sizes that are
                None, such as `in_features` of ``na.nn.Linear(None, 3)``.

        Raises:
            UnknownSizeError: a size is None, and there is no input, or the call reaches no such layer.

        Example:
            >>> import numpy as np, nestarray as na
            >>> net = na.nn.Sequential(na.nn.Linear(None, 3), na.relu, na.nn.Linear(None, 1))
            >>> net.init(na.random.key(0), np.ones((5, 2), np.float32)).v["0/weight"].shape
            (3, 2)
        """
        net = self._completed(key, args, kwargs) if args or kwargs else self
        values = [Container.from_flat_dict(group) for group in net._drawn(key)]
        return net._with(*values)

    def _completed(self: M, key: Array, args: tuple[Any, ...], kwargs: dict[str, Any]) -> M:
        """A copy with all sizes, from a call with these inputs; the module itself if it has them."""
        modules = list(self.named_modules())
        if not any(module._lacks_size() for _, module in modules):
            return self
        net = copy.deepcopy(self)
        frame = Frame(net, Container(), Container(), False, key)
        frame.is_completing = True
        with running_frame.being(frame):
            for _, module in net.named_modules():
                if not module._lacks_size():
                    frame.draw_variables(module)
            net._complete(frame, args, kwargs)
            net.forward(*args, **kwargs)
        return net

    def _lacks_size(self) -> bool:
        return self.inferred is not None and self.inferred[0] not in vars(self)

    def _complete(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Set a size that is None to the one of the input, and draw variables for this call."""
        if self.inferred is None:
            return
        if self._lacks_size():
            x, (name, axis) = next(iter((*args, *kwargs.values()))), self.inferred
            if not -len(x.shape) <= axis < len(x.shape):
                raise ShapeError(
                    f"{type(self).__name__}: {name}: got None and an input of the shape "
                    f"{tuple(x.shape)}, which has no axis {axis}"
                )
            self._set_size(x.shape[axis])
        frame.draw_variables(self)

    def _set_size(self, size: int) -> None:
        """Set the inferred size, and in subclasses the settings that depend on it."""
        assert self.inferred is not None
        setattr(self, self.inferred[0], size)

    def _drawn(self, key: Array, prefix: str = "") -> tuple[dict[str, Array], dict[str, Array]]:
        """Initial variables and states of this module and of all below, by path."""
        groups: tuple[dict[str, Array], dict[str, Array]] = ({}, {})
        for path, module in self.named_modules():
            inside = f"{prefix}{path}/" if path else prefix
            for group, values in zip(groups, module._initial_values(key, inside)):
                group |= {f"{path}/{name}" if path else name: x for name, x in values.items()}
        return groups

    def _initial_values(
        self, key: Array, prefix: str
    ) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
        """Initial variables and states of this module itself; its path is `prefix`."""

        def drawn(group: Mapping[str, Variable]) -> dict[str, Array]:
            return {
                name: declared.initializer(
                    random.fold_in(key, prefix + name), declared.shape, declared.dtype
                )
                for name, declared in group.items()
            }

        return drawn(self.variables()), drawn(self.states())

    @property
    def v(self) -> Container:
        """The trainable variables, nested by attribute name.

        Raises:
            StructureError: the module has none yet.
        """
        return self._held()[0]

    @property
    def s(self) -> Container:
        """The state, nested by attribute name; empty for most modules.

        Raises:
            StructureError: the module has none yet.
        """
        return self._held()[1]

    def with_variables(self: M, v: Any, s: Any = None) -> M:
        """A copy that holds other variables.

        Args:
            v: Container with the paths and shapes that the module declares, such as
                ``Container.from_torch_module(net)``. Entries that the module declares as
                state (from ``from_torch_module(net, buffers=True)``) become state.
            s: the state; None keeps the present state, or initializes it.

        Raises:
            StructureError: paths are missing or unknown.
            ShapeError: a shape is not the declared one.
        """
        variables, states = self._declared()
        v = v if isinstance(v, Container) else Container(v)
        inside = {p: x for p, x in v.flat_items() if p in states}
        if inside:
            v = Container.from_flat_dict({p: x for p, x in v.flat_items() if p not in inside})
            s = Container.from_flat_dict(inside) if s is None else s
        if s is None:
            s = vars(self).get("_s")
        if s is None:
            key = random.key(0, like=v) if v.leaves() else random.key(0)
            s = Container.from_flat_dict({
                path: declared.initializer(key, declared.shape, declared.dtype)
                for path, declared in states.items()
            })  # fmt: skip
        v = self._matched(v, 0, "with_variables: v")
        s = self._matched(s, 1, "with_variables: s")
        for given, group in ((v, variables), (s, states)):
            for path, leaf in given.flat_items():
                wanted = group[path].shape
                if tuple(leaf.shape) != tuple(wanted):
                    raise ShapeError(
                        f"{type(self).__name__}.with_variables: {path!r}: got the shape "
                        f"{tuple(leaf.shape)}, expected {tuple(wanted)}"
                    )
        return self._with(v, s)

    def to_backend(self: M, backend: str, *, device: Any = None) -> M:
        """A copy whose variables and state are arrays of another framework, or on another device.

        They share memory where both frameworks support it; `device` as for `na.to_backend`.
        """
        v, s = self._held()
        return self._with(
            v.to_backend(backend, device=device), s.to_backend(backend, device=device)
        )

    def _with(self: M, v: Container, s: Container) -> M:
        new = copy.copy(self)
        vars(new)["_v"], vars(new)["_s"] = v, s
        return new

    def _held(self) -> tuple[Container, Container]:
        held = vars(self)
        if "_v" not in held:
            if not any(self._declared()):
                return Container(), Container()
            name = type(self).__name__
            raise StructureError(
                f"{name}: has no variables yet. Call model = model.init(na.random.key(0)), which "
                "returns a copy that has them, or pass them: model(x, v=v)"
            )
        return held["_v"], held["_s"]

    # -- the tree of modules ---------------------------------------------------------------

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """(path, module) of this module, path ``""``, and of all below, each once."""
        seen: set[int] = set()

        def walk(path: str, module: Module) -> Iterator[tuple[str, Module]]:
            if id(module) in seen:
                return
            seen.add(id(module))
            yield path, module
            for name, child in module.children().items():
                yield from walk(f"{path}/{name}" if path else name, child)

        return walk("", self)

    def _prefixes(self) -> dict[int, tuple[str, Module]]:
        """Identity → (path prefix, module) for all modules below; it keeps them alive."""
        known = vars(self).get("_known_modules")
        if known is None:
            known = {id(m): (f"{p}/" if p else "", m) for p, m in self.named_modules()}
            vars(self)["_known_modules"] = known
        return known

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not k.startswith("_known")}

    def __setattr__(self, name: str, value: Any) -> None:
        for cache in ("_known_modules", "_known_specs"):
            vars(self).pop(cache, None)
        if value is not None or self.inferred is None or name != self.inferred[0]:
            object.__setattr__(self, name, value)

    def _declared(self) -> tuple[dict[str, Variable], dict[str, Variable]]:
        variables: dict[str, Variable] = {}
        states: dict[str, Variable] = {}
        for path, module in self.named_modules():
            prefix = f"{path}/" if path else ""
            variables |= {prefix + name: d for name, d in module.variables().items()}
            states |= {prefix + name: d for name, d in module.states().items()}
        return variables, states

    def _matched(self, given: Any, group: int, what: str) -> Container:
        """`given` as a Container in the order of the declarations; each structure is checked once."""
        if not isinstance(given, Container):
            given = Container(given)
        spec, places = self._order(given.spec, group, what)
        if given.spec is spec:
            return given
        return from_leaves(spec, tuple([given._leaves[i] for i in places]))

    @compile_time_constant
    def _order(self, given: Spec, group: int, what: str) -> tuple[Spec, tuple[int, ...]]:
        """The spec of the declarations, and for each of its leaves the place in `given`."""
        known = vars(self).setdefault("_known_specs", {})
        order = known.get((group, given))
        if order is None:
            spec = Container.from_flat_dict(dict.fromkeys(self._declared()[group])).spec
            places = given.permutation_to(spec)
            if places is None:
                what = f"{type(self).__name__}: {what}"
                error = _explain(spec, given, what)
                variables = self._declared()[0].keys() if group == 1 else ()
                if not set(variables).isdisjoint(given.path_names):
                    error = StructureError(f"{error}; {NEW_VARIABLES}")
                raise error
            order = known[group, given] = (spec, places)
        return order

    # -- calls -----------------------------------------------------------------------------

    def __hash__(self) -> int:
        """The hash of the object; raises during a call, whose variables the module reads.

        JAX would keep the trace of ``jax.jit(self.layer)`` under it, with the variables of that call.
        """
        frame = running_frame.get()
        if frame is not None and frame.prefix_of(self) is not None:
            raise ArgumentError(
                f"{type(self).__name__}: a layer cannot be hashed during a call of its model, because "
                "it computes with the variables of that call. Pass a function of this call to JAX, "
                "lambda x: self.layer(x), or use na.jit, na.cond, na.scan and na.checkpoint"
            )
        return object.__hash__(self)

    def __call__(
        self,
        *args: Any,
        v: Any = None,
        s: Any = None,
        train: bool = False,
        key: Array | None = None,
        **kwargs: Any,
    ) -> Any:
        """Compute `forward` with these variables and state.

        Args:
            *args: for `forward`.
            v: the variables; None uses the ones in the module. A module that declares none, such as
                ``na.nn.ReLU()``, needs neither `v` nor `init`.
            s: the state; None uses the one in the module.
            train: training mode, for dropout and running statistics. The result is then
                ``(out, s)`` with the new state.
            key: the key of random layers, which need it in training mode.
            **kwargs: for `forward`.

        Returns:
            the result of `forward`, or ``(out, s)`` in training mode.

        Raises:
            StructureError: the module has no variables, or `v` or `s` does not match the declarations.
            ArgumentError: a layer needs a key, and `key` is None.
        """
        frame = running_frame.get()
        prefix = None if frame is None else frame.prefix_of(self)
        if frame and prefix is not None and v is None and s is None and not train and key is None:
            try:
                if frame.is_completing:
                    self._complete(frame, args, kwargs)
                return self.forward(*args, **kwargs)
            except Exception as error:
                frame.add_note(error, prefix, self)
                raise
        if is_compiling():
            self._fill_caches(train)
        v = self._matched(self.v if v is None else v, 0, "v")
        if s is None:
            s = vars(self).get("_s", Container())
            if not len(s) and self._has_state():
                s = self.s  # raises: not initialized
        s = self._matched(s, 1, "s")
        frame = Frame(self, v, s, train, key)
        with running_frame.being(frame):
            out = self.forward(*args, **kwargs)
        if not train:
            return out
        updates = dict(frame.updates)
        leaves = [updates.pop(path, leaf) for path, leaf in s.flat_items()]
        s = from_leaves(s.spec, tuple(leaves))
        for path, value in updates.items():  # variables
            s = s.set(path, value)
        return out, s

    @compile_time_constant
    def _fill_caches(self, train: bool) -> None:
        """Fill the caches of all modules, which torch.compile cannot do while it traces."""
        self._prefixes()
        for _, module in self.named_modules():
            module._prepare(train)

    def _prepare(self, train: bool) -> None:
        """Fill the caches of this module for a call on torch; subclasses extend it."""

    def _has_state(self) -> bool:
        return any(module.states() for _, module in self.named_modules())

    def _place(self, what: str) -> tuple[Frame, str]:
        frame = running_frame.get()
        prefix = None if frame is None else frame.prefix_of(self)
        if frame is not None and prefix is not None:
            return frame, prefix
        raise ArgumentError(
            f"{type(self).__name__}: {what} is available only during a call of the model that "
            "contains the layer"
        )

    def _running(self, path: str) -> Array:
        """A variable or state in the running call, by its path below this module."""
        frame, prefix = self._place("a variable")
        return frame.updates.get(prefix + path, frame.leaves[prefix + path])

    def __getattr__(self, name: str) -> Any:
        """A variable or state of this module, from the running call or from the module."""
        if name.startswith("_"):
            raise AttributeError(name)
        if self.inferred is not None and name == self.inferred[0]:
            raise UnknownSizeError(
                f"{self!r}: {name} is None; net = net.init(na.random.key(0), x) reads it from an "
                "example input x of the net, if that reaches the layer"
            )
        frame = running_frame.get()
        prefix = None if frame is None else frame.prefix_of(self)
        if frame is not None and prefix is not None and prefix + name in frame.leaves:
            return frame.updates.get(prefix + name, frame.leaves[prefix + name])
        if not self._declares(name):
            text = f"{type(self).__name__} has no attribute {name!r}"
            raise unknown_attribute(lambda: text + hint("Module", name, ()), name)
        if "_v" in vars(self):
            return (self.v if name in self.v else self.s)[name]
        raise AttributeError(
            f"{type(self).__name__}: {name!r} is a variable; a layer has variables only during "
            "a call of its model. Read them from the model: model.v[...]"
        )

    def _declares(self, name: str) -> bool:
        declaring = _declaring.get()
        if id(self) in declaring:
            return False
        with _declaring.being(declaring | {id(self)}):
            return name in self.variables() or name in self.states()

    @property
    def training(self) -> bool:
        """Whether the running call is in training mode; False outside calls."""
        frame = running_frame.get()
        return frame is not None and frame.train

    def key_for(self, purpose: str) -> Array:
        """A new key of this layer in the running call.

        It is folded from the call's key and the layer's path. Each use in a call gets another key,
        also in each step of a loop.

        Args:
            purpose: the use of the key, for the error message.

        Raises:
            ArgumentError: the call has no key.
        """
        frame, prefix = self._place("a key")
        if frame.key is None:
            raise ArgumentError(
                f"{type(frame.root).__name__}: key: got None, but {type(self).__name__} "
                f"({prefix.rstrip('/') or 'the model itself'}) needs one for {purpose}; pass "
                "model(x, train=True, key=na.random.key(0)), with a new key for each call"
            )
        count = frame.draw(prefix)
        key = random.fold_in(frame.key, prefix.rstrip("/"))
        if isinstance(count, int):
            return random.fold_in(key, count) if count else key
        return ops.stack([key, random.fold_in(key, count)])[ops.minimum(count, 1)]

    def update_state(self, /, **values: Array) -> None:
        """Set states of this layer in the result of the call; the module does not change.

        The new value of a variable is part of the new state, under the variable's path:
        ``v, s = v.update(s).partition(*v.paths())`` separates the two.

        Raises:
            PathError: the layer declares no such state or variable.
        """
        frame, prefix = self._place("state")
        declared = {**self.states(), **self.variables()}
        for name in values:
            if prefix + name not in frame.leaves or name not in declared:
                raise PathError(f"{type(self).__name__}: declares no state {name!r}")
        layer = f"{type(self).__name__} ({prefix.rstrip('/') or 'the model itself'})"
        frame.update(States({prefix + name: x for name, x in values.items()}, {}), layer)

    # -- display ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        children = self.children()
        names = {name.partition("/")[0] for name in children}
        settings = [
            f"{name}={_show(value)}"
            for name, value in vars(self).items()
            if not name.startswith("_") and name not in names and not _is_empty(value)
        ]
        head = f"{type(self).__name__}({', '.join(settings)}"
        if not children:
            return head + ")"
        lines = [f"{name}: {child!r}".replace("\n", "\n  ") for name, child in children.items()]
        inner = "".join(f"\n  {line}" for line in lines)
        return f"{head}{inner}\n)"

    def summary(self, *args: Any, **kwargs: Any) -> Table:
        """A table of the layers that have variables: path, type, shapes, number of elements.

        With example inputs also the costs of a call in evaluation mode for each module: the shape of its
        output, FLOPs by the rules of `na.flops`, and the bytes of all results, which gradients may
        need. A module's row is without its children's.

        Args:
            *args, **kwargs: inputs of `forward`; only shapes and dtypes matter.

        Returns:
            a `Table`: it prints, shows in notebooks, and ``summary()["elements"]`` is a column.

        Example:
            >>> import numpy as np, nestarray as na
            >>> net = na.nn.Sequential(na.nn.Linear(2, 3), na.relu)
            >>> print(net.summary())
            path   layer   variables                elements
            0      Linear  weight (3, 2), bias (3)         9
            ────────────────────────────────────────────────
            total                                          9
            >>> print(net.summary(np.ones((8, 2), "float32")))
            path   layer       variables                elements  output  flops  activations
            .      Sequential                                  0  (8, 3)      0           96
            0      Linear      weight (3, 2), bias (3)         9  (8, 3)     96           96
            ────────────────────────────────────────────────────────────────────────────────
            total                                              9             96          192
        """
        columns: dict[str, list[Any]] = {
            name: [] for name in ("path", "layer", "variables", "elements")
        }
        net = self
        costs: dict[str, Any] = {}
        if args or kwargs:
            module_costs = importlib.import_module("nestarray.importers.costs")
            leaves = tree.leaves((args, kwargs))
            if "_v" not in vars(self):
                net = self.init(random.key(0, like=leaves[0]), *args, **kwargs)
            costs = module_costs.costs_of(net, args, kwargs)
            columns |= {name: [] for name in module_costs.Cost._fields}
        for path, module in net.named_modules():
            own = module.variables()
            shapes = [f"{n} {_show_shape(d.shape)}" for n, d in {**own, **module.states()}.items()]
            if not shapes and path not in costs:
                continue
            elements = sum(math.prod(d.shape) for d in own.values())
            row = [path or ".", type(module).__name__, ", ".join(shapes), elements]
            if costs:
                output, flops, activations = costs.get(path, (None, 0, 0))
                row += ["" if output is None else _show_shape(output), flops, activations]
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
        texts = ("path", "layer", "variables", "output")
        total: dict[str, Any] = {
            name: "" if name in texts else _total(column) for name, column in columns.items()
        }
        return Table(columns, total=total | {"path": "total"})


def _total(column: list[Any]) -> Any:
    """The sum; None if a number is not known."""
    return None if None in column else sum(column)


def running_path(module: Module) -> str | None:
    """The path of `module` below the root of the running call; None outside calls."""
    frame = running_frame.get()
    prefix = None if frame is None else frame.prefix_of(module)
    return None if prefix is None else prefix.rstrip("/")


def _modules_in(name: str, value: Any) -> dict[str, Module]:
    if isinstance(value, Module):
        return {name: value}
    if isinstance(value, (list, tuple)):
        items: Any = enumerate(value)
    elif isinstance(value, Mapping) and not isinstance(value, Container):
        items = value.items()
    else:
        return {}
    found: dict[str, Module] = {}
    for key, item in items:
        found |= _modules_in(f"{name}/{key}", item)
    return found


def _explain(expected: Spec, given: Spec, what: str) -> StructureError:
    mine, theirs = set(expected.path_names), set(given.path_names)
    missing = [p for p in expected.path_names if p not in theirs]
    extra = [p for p in given.path_names if p not in mine]
    if not missing and not extra:
        return explain_mismatch(expected, given, what)
    parts = []
    if missing:
        parts.append(f"lacks {listed(map(repr, missing))}")
    if extra:
        parts.append(f"has {listed(map(repr, extra))}, which the model does not declare")
    return StructureError(f"{what}: {' and '.join(parts)}")


def _show(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    return str(value) if isinstance(value, dtypes.DType) else repr(value)


def _is_empty(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict)) and not value


def _show_shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))})"

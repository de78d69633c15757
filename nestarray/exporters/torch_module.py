"""Programs as ``torch.nn.Module``.

A source from PyTorch keeps its names, so its checkpoints load; others have their paths, with dots.
Words of Python (``in`` and ``if`` of Flax's LSTM) get an underscore, because ``torch.export`` prints
names as attributes, and so do methods of the module (``train``, ``type``).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from keyword import kwlist
from typing import Any

import torch

from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.exporters.program import Program, Variables
from nestarray.exporters.signatures import signature_of, with_parameters
from nestarray.interchange import torch as interchange

#: Words that are no names of submodules and parameters.
_TAKEN = {*kwlist, *dir(torch.nn.Module())}


class TorchModule(torch.nn.Module):
    """A converted model: parameters, buffers, ``train()`` and ``eval()`` as usual.

    Random operations of the training mode draw from PyTorch's generator (``torch.manual_seed``).
    """

    #: of `forward`
    signature: Signature

    def __init__(self, program: Program, variables: Variables) -> None:
        super().__init__()
        self._traced, self._program = program, program.optimized().ready()
        self._places: dict[str, tuple[torch.nn.Module, str]] = {}  # path → module, attribute
        known = program.source_names
        names = known.names if known.framework == "torch" else {}
        for name, (letter, path) in names.items():
            if letter == "extra":
                self._extend(name, known.extra[path])
            elif letter == "kept":  # for the state dict; no call reads it
                owner, attribute = self._owner(name)
                owner.register_buffer(attribute, interchange.tensor_of_text(known.extra[path]))
            elif path in program.v or path in program.s:  # not one that `optimize` folded
                self._register(name, path, variables.values[path], is_persistent=True)
        for path in (*program.v, *program.s):
            if path not in self._places:
                parts = path.replace(".", "_").split("/")
                name = ".".join([f"{part}_" if part in _TAKEN else part for part in parts])
                self._register(name, path, variables.values[path], is_persistent=not names)
        self.eval()

    def _register(self, name: str, path: str, value: Any, *, is_persistent: bool) -> None:
        """Register a variable; a tied one is registered under all of its names."""
        owner, attribute = self._owner(name)
        if path in self._places:
            first, key = self._places[path]
            setattr(owner, attribute, getattr(first, key))
            return
        if path in self._program.v:
            trains = value.is_floating_point() or value.is_complex()
            owner.register_parameter(attribute, torch.nn.Parameter(value, requires_grad=trains))
        else:
            owner.register_buffer(attribute, value, persistent=is_persistent)
        self._places[path] = owner, attribute

    def _owner(self, name: str) -> tuple[torch.nn.Module, str]:
        """The submodule of a dotted name, and the last part of the name."""
        owner: torch.nn.Module = self
        *parts, last = name.split(".")
        for part in parts:
            if part not in owner._modules:
                owner.add_module(part, torch.nn.Module())
            owner = owner.get_submodule(part)
        return owner, last

    def _extend(self, name: str, value: Any) -> None:
        """Give a submodule the extra state of the source."""
        owner, _ = self._owner(name)
        if owner is not self:
            owner.__class__ = _WithExtraState
            owner.extra = value

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the source; the class of a program has the source's parameters."""
        return self._run(args, kwargs)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        program = self._program
        values = {path: getattr(owner, name) for path, (owner, name) in self._places.items()}
        key = None
        if program.needs_key(self.training):
            device = next((x.device for x in values.values()), None)
            key = torch.randint(0, 2**32, (2,), dtype=torch.int64, device=device)
            key = key.to(torch.uint32)
        frozen: frozenset[str] = frozenset()
        if self.training:  # submodules in evaluation mode
            frozen = frozenset([p for p, (owner, _) in self._places.items() if not owner.training])
        # results, other state and the derivative may need the present state
        written = [path for path in program.written(self.training) if path in program.s]
        values |= {path: values[path].clone() for path in written}
        output, new = program.run(self.training, args, kwargs, values, key, frozen)
        for path, value in new.items():
            owner, name = self._places[path]
            getattr(owner, name).detach().copy_(value.detach())
        return output

    def _apply(self, fn: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Any:
        """Move and cast the program with the parameters: its constants, and the dtypes of calls."""
        program = self._traced
        super()._apply(fn, recurse)
        values = {path: getattr(owner, name) for path, (owner, name) in self._places.items()}
        changes = {}
        for dtype in _floating_dtypes(program):
            native = backends.core("torch").native_dtype(dtype)
            changes[dtype] = dtypes.dtype_of(fn(torch.empty(0, dtype=native)))
        changes = {old: new for old, new in changes.items() if new is not old}
        values = {path: x.detach() for path, x in values.items()}
        self._traced = program.converted(values, fn, changes)
        if changes:  # lowering computes constants, in the dtypes of the calls
            self._program = self._traced.optimized().ready()
        else:
            self._program = self._program.converted(values, fn, {}).ready()
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _empty, (type(self).signature,), vars(self).copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._program.ready()  # copies and pickles have no compiled graphs

    def extra_repr(self) -> str:
        """The name of the source."""
        return self._program.name


def _floating_dtypes(program: Program) -> set[DType]:
    """The floating dtypes of the variables; of the inputs, if no variable is floating."""
    kinds = {dtypes.dtype_of(x) for x in (*program.v.values(), *program.s.values())}
    floating = {dtype for dtype in kinds if dtype.is_floating}
    inputs = [node.aval.dtype for g in program.graphs.values() for node in g.inputs if node.aval]
    return floating or {dtype for dtype in inputs if dtype.is_floating}


class _WithExtraState(torch.nn.Module):
    """A submodule whose source stores more than tensors."""

    extra: Any

    def get_extra_state(self) -> Any:
        return self.extra

    def set_extra_state(self, state: Any) -> None:
        self.extra = state


def build(program: Program, variables: Variables) -> TorchModule:
    """The module of a program, whose `forward` has the parameters of the source."""
    return _class_of(signature_of(program, torch.Tensor))(program, variables)


def _class_of(signature: Signature) -> type[TorchModule]:
    forward = with_parameters(signature, "_run")
    return type("TorchModule", (TorchModule,), {"forward": forward, "signature": signature})


def _empty(signature: Signature) -> TorchModule:
    """A module whose attributes a copy or a pickle sets."""
    module = _class_of(signature)
    return module.__new__(module)

"""Exports a ``torch.nn.Module`` as a functional program of ATen calls, by ``torch.export``.

The module is exported inside an adapter whose output consists of builtins, and which also returns
the tensors that the call assigns. A trace that fails is repeated with the workarounds that it did
not apply.
"""

from __future__ import annotations

import contextlib
import io
import logging
import operator
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from inspect import Parameter, Signature
from typing import Any

import torch

from nestarray.backends.torch.autocast import casting
from nestarray.errors import ConversionError, Refused
from nestarray.frontends.torch import vocabulary
from nestarray.importers.patching import is_tracing, tracing
from nestarray.importers.torch import below_autograd
from nestarray.importers.torch.aliases import detach_in_place, refuse_lost_writes
from nestarray.importers.torch.assignments import call_with_writes
from nestarray.importers.torch.coverage import why_unknown
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.gradient_modes import detach_regions
from nestarray.importers.torch.overwritten_parameters import keep_gradients, return_new_values
from nestarray.importers.torch.tied_tensors import separate_tied
from nestarray.importers.torch.trace import Derivative, ExampleDecides, Trace
from nestarray.importers.torch.workarounds.autograd_functions import check_linear
from nestarray.importers.workarounds import Needed

#: The attributes in which a ``torch.nn.Module`` holds its tensors and children.
_TABLES = ("_parameters", "_buffers", "_modules")


@contextlib.contextmanager
def in_mode(module: Any, train: bool) -> Iterator[None]:
    """Set training or evaluation mode; restore the mode of each submodule at the end."""
    before = {m: m.training for m in module.modules()}
    module.train(train)
    try:
        yield
    finally:
        for m, training in before.items():
            m.training = training


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Suppress the exporter's warnings, logs and prints in this thread.

    Errors contain the reasons of failures. ``TORCH_LOGS`` enables the logs.
    """
    handlers = [] if "TORCH_LOGS" in os.environ else list(_handlers_of_torch())
    for handler in handlers:
        handler.addFilter(_is_of_other_thread)
    try:
        # the exporter prints the program of a failed trace
        with tracing(), contextlib.redirect_stderr(_OtherThreads()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(_is_of_other_thread)


class _OtherThreads(io.TextIOBase):
    """The standard error of the threads that do not trace."""

    def __init__(self) -> None:
        self._stream = sys.stderr

    def write(self, text: str) -> int:
        return len(text) if is_tracing() else self._stream.write(text)

    def flush(self) -> None:
        self._stream.flush()


def _handlers_of_torch() -> Iterator[logging.Handler]:
    for name, logger in logging.Logger.manager.loggerDict.items():
        if name.partition(".")[0] == "torch":
            yield from getattr(logger, "handlers", ())  # placeholders of loggers have no handlers


def _is_of_other_thread(record: logging.LogRecord) -> bool:
    return not is_tracing()


def export(
    module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Dynamic
) -> tuple[Any, list[str]]:
    """The exported program of one call, functional and in ATen calls; the checks that it drops.

    Raises:
        ConversionError: the exporter fails; with its reason and advice.
    """
    trace = Trace(module, dynamic.lines if dynamic.is_asked else None)
    while True:
        try:
            with _refused_by(module), _seed_kept(), _attributes_kept(module):
                program = _attempt(trace, args, kwargs, dynamic)
                dynamic.choices = dict(trace.choices.lines)
                return program, [*trace.checks]
        except Needed as needed:
            trace.apply(needed.workaround)
        except ExampleDecides:
            trace.is_decided_by_example = True
        except ConversionError:
            raise
        except Exception as error:  # the exporter and the module may raise any
            if trace.apply_all():
                continue
            if not trace.choices.are_of_example:
                trace.is_decided_by_example = True
                continue
            reasons = [dynamic.explained(error), *trace.absences()]
            raise ConversionError(
                f"trace_graph: torch.export cannot export {type(module).__name__}: "
                f"{type(error).__name__}: {'; '.join(reasons)}"
            ) from error


@contextlib.contextmanager
def _refused_by(module: Any) -> Iterator[None]:
    """Add the name of a module to the refusals of its behaviour."""
    try:
        yield
    except Refused as refusal:
        if not refusal.place:
            reason = f"{type(module).__name__} {refusal.reason}"
            refusal.place, refusal.reason = "trace_graph", reason
        raise


@contextlib.contextmanager
def _seed_kept() -> Iterator[None]:
    """Restore the state of the default generator if forward seeds it."""
    seed, state = torch.initial_seed(), torch.get_rng_state()
    try:
        yield
    finally:
        if torch.initial_seed() != seed:
            torch.set_rng_state(state)


@contextlib.contextmanager
def _attributes_kept(module: Any) -> Iterator[None]:
    """Undo the assignments of a forward that fails."""
    parts = [(part, vars(part).copy()) for part in module.modules()]
    tables = [
        (part, name, attributes[name].copy())
        for part, attributes in parts
        for name in _TABLES
        if name in attributes  # those of a scripted module are in C++
    ]
    with contextlib.ExitStack() as failed:
        for part, name, table in tables:
            failed.callback(_restore, vars(part)[name], table)
        for part, attributes in parts:
            failed.callback(_restore, vars(part), attributes)
        yield
        failed.pop_all()


def _restore(values: dict[str, Any], before: dict[str, Any]) -> None:
    values.clear()
    values.update(before)


def _attempt(trace: Trace, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Dynamic) -> Any:
    names = list(dynamic.arguments)
    adapter = _adapter(trace, names[: len(args)], names[len(args) :])
    with (
        trace.attempt(),
        casting(trace.autocast, enabled=False),
        torch.inference_mode(False),
        torch.enable_grad(),
    ):
        try:
            exported = _raw(adapter, args, kwargs, dynamic.shapes)
            trace.settle(exported, partial(_raw, adapter, args, kwargs, dynamic.shapes))
            program = _normalized(exported)
        except Exception as error:  # of the exporter; its message decides
            if not isinstance(error, Derivative) and not below_autograd.needs_autograd(error):
                raise
            trace.start(below_autograd=True)
            recorded = below_autograd.traced(adapter, args, kwargs, dynamic.shapes)
            program = _normalized(_raw(recorded, args, kwargs, dynamic.shapes))
    check_linear(program)
    trace.look_at(program)
    return program


def _raw(adapter: Any, args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any) -> Any:
    return torch.export.export(adapter, args, kwargs, dynamic_shapes=shapes)


def _normalized(program: Any) -> Any:
    """An exported program as calls without writes, with the gradients of its source."""
    separate_tied(program)
    detach_in_place(program)
    refuse_lost_writes(program)
    keep_gradients(program)
    detach_regions(program)
    program = functional(program)
    return_new_values(program)
    return program


def _adapter(trace: Trace, arguments: Iterable[str], keywords: Iterable[str]) -> Any:
    """The module of a trace, with the result of `call_with_writes`.

    Its signature has the arguments of the example call, for the exporter's messages. The mode sees
    calls of forward only, not those of the exporter's own passes.
    """

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source = trace.module
            self.training = trace.module.training
            self.watch = trace.watch

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            self.watch((args, kwargs))
            with trace.calls(), casting(trace.autocast):
                return call_with_writes(self.source, args, kwargs)

    parameters = [("_adapter", Parameter.POSITIONAL_ONLY)]  # methods of torch have a `self`
    parameters += [(name, Parameter.POSITIONAL_ONLY) for name in arguments]
    parameters += [(name, Parameter.KEYWORD_ONLY) for name in keywords]
    Adapter.forward.__signature__ = Signature([Parameter(*p) for p in parameters])  # type: ignore[attr-defined]
    return Adapter()


# -- functional programs ------------------------------------------------------------------------


#: Operations that write running statistics, which their schemas do not declare → the position of
#: the argument that says so.
_TRAINING = {"aten::batch_norm": 5, "aten::instance_norm": 5}


def functional(program: Any) -> Any:
    """The program with values in place of writes."""
    if _is_functional(program):
        _remove_idle_dropout(program)
        return program
    return program.run_decompositions({})


def _is_functional(program: Any) -> bool:
    """Whether no call of an exported program writes, and each is an operation with a rule."""
    return all(
        node.op in ("placeholder", "output") or node.target is operator.getitem or _is_pure(node)
        for node in program.graph.nodes
    )


def _is_pure(node: Any) -> bool:
    if node.op != "call_function":
        return False
    rule = vocabulary.find(node.target)
    if rule is not None and rule.is_ignored:
        return True
    if why_unknown(node):
        return False
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return True  # arithmetic of sizes
    place = _TRAINING.get(schema.name)
    return not schema.is_mutable and not (place and node.args[place])


def _remove_idle_dropout(program: Any) -> None:
    """Remove calls of dropout outside of training."""
    for node in list(program.graph.nodes):
        if node.target is torch.ops.aten.dropout.default and node.args[2] is False:
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    program.graph_module.recompile()

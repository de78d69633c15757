"""Exports a ``torch.nn.Module`` as a functional program of ATen calls, by ``torch.export``.

The module is exported inside an adapter whose output consists of builtins.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.torch import below_autograd
from nestarray.importers.torch.assignments import assignments_as_writes
from nestarray.importers.torch.autograd_functions import check_linear, patched_autograd_functions
from nestarray.importers.torch.ctc_loss import patched_ctc_loss
from nestarray.importers.torch.cumulative_averages import patched_batch_norm
from nestarray.importers.torch.data_dependent import patched_data_dependent
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.fake_quantization import patched_fake_quantization
from nestarray.importers.torch.flex_attention import patched_flex_attention
from nestarray.importers.torch.gradient_modes import detach_regions, patched_gradient_modes
from nestarray.importers.torch.jvp_concat import patched_concat
from nestarray.importers.torch.max_norm_embedding import patched_max_norm
from nestarray.importers.torch.normalizations import patched_normalizations
from nestarray.importers.torch.patching import patched
from nestarray.importers.torch.seeded_random import patched_seeds
from nestarray.importers.torch.sequences import check_padded, patched_sequences
from nestarray.importers.torch.vmap_rules import patched_vmap_rules


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
    """Suppress the exporter's warnings, logs and prints.

    Errors contain the reasons of failures. ``TORCH_LOGS`` enables the logs.
    """
    import torch.export._trace

    handlers = [] if "TORCH_LOGS" in os.environ else list(_handlers_of_torch())
    for handler in handlers:
        handler.addFilter(_nothing)
    try:
        # the exporter prints the incomplete program
        printing = patched((torch.export._trace, "print", lambda *_, **__: None))
        with printing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(_nothing)


def _handlers_of_torch() -> Iterator[logging.Handler]:
    for name, logger in logging.Logger.manager.loggerDict.items():
        if name.partition(".")[0] == "torch":
            yield from getattr(logger, "handlers", ())  # placeholders of loggers have no handlers


def _nothing(record: logging.LogRecord) -> bool:
    return False


def _adapter(module: Any, arguments: Iterable[str], keywords: Iterable[str]) -> Any:
    """`module` with outputs of dicts, lists and tuples only.

    Its signature has the arguments of the example call, for the exporter's messages.
    """
    import torch

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source = module
            self.training = module.training

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            with assignments_as_writes(self.source):
                return _plain_output(self.source(*args, **kwargs))

    parameters = [("self", Parameter.POSITIONAL_ONLY)]
    parameters += [(name, Parameter.POSITIONAL_ONLY) for name in arguments]
    parameters += [(name, Parameter.KEYWORD_ONLY) for name in keywords]
    Adapter.forward.__signature__ = Signature([Parameter(*p) for p in parameters])  # type: ignore[attr-defined]
    return Adapter()


def _plain_output(value: Any) -> Any:
    """A nest of builtins.

    A dataclass becomes a dict of its fields, another object a dict of its attributes that
    hold tensors.
    """
    import torch

    sizes = (torch.SymInt, torch.SymFloat, torch.SymBool)
    if value is None or isinstance(value, (torch.Tensor, bool, int, float, complex, str, *sizes)):
        return value
    if isinstance(value, Mapping):
        return {key: _plain_output(item) for key, item in value.items()}
    check_padded(value)
    if hasattr(value, "_fields"):
        return {name: _plain_output(getattr(value, name)) for name in value._fields}
    if isinstance(value, (list, tuple)):
        return type(value)([_plain_output(item) for item in value])
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {k: _plain_output(x) for k, x in fields.items()}
    public = {k: x for k, x in getattr(value, "__dict__", {}).items() if not k.startswith("_")}
    return {k: _plain_output(x) for k, x in public.items() if _holds_tensor(x)}


def _holds_tensor(value: Any) -> bool:
    import torch

    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, Mapping):
        return any(_holds_tensor(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_tensor(item) for item in value)
    if isinstance(value, (torch.nn.Module, type, torch.dtype, torch.device)):
        return False
    return any(_holds_tensor(item) for item in getattr(value, "__dict__", {}).values())


def export(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic: Dynamic) -> Any:
    """The exported program of one call, functional and in ATen calls.

    Raises:
        ConversionError: the exporter fails; with its reason and advice.
    """
    import torch

    names = list(dynamic.arguments)
    adapter = _adapter(module, names[: len(args)], names[len(args) :])

    def exported(adapter: Any) -> Any:
        program = torch.export.export(adapter, args, kwargs, dynamic_shapes=dynamic.shapes)
        detach_regions(program, type(module).__name__)
        return program.run_decompositions({})

    try:
        with _patches(), patched_max_norm(module.training):
            try:
                with below_autograd.refuse_derivatives():
                    program = exported(adapter)
            except Exception as error:
                if not below_autograd.needs_autograd(error):
                    raise
                program = exported(below_autograd.traced(adapter, args, kwargs, dynamic.shapes))
        check_linear(program, type(module).__name__)
        return program
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError(
            f"trace_graph: torch.export cannot export {type(module).__name__}: "
            f"{type(error).__name__}: {dynamic.explained(error)}"
        ) from error


@contextlib.contextmanager
def _patches() -> Iterator[None]:
    """Replace the parts of torch that the exporter does not support."""
    from torch.distributions import Distribution

    with (
        patched_gradient_modes(),
        patched_autograd_functions(),
        patched_sequences(),
        patched_ctc_loss(),
        patched_batch_norm(),
        patched_flex_attention(),
        patched_data_dependent(),
        patched_vmap_rules(),
        patched_normalizations(),
        patched_concat(),
        patched_fake_quantization(),
        patched_seeds(),
        # its checks of values are data-dependent branches
        patched((Distribution, "_validate_args", False)),
    ):
        yield

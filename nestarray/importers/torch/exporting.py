"""Exports a ``torch.nn.Module`` as a functional program of ATen calls, by ``torch.export``.

The module is exported inside an adapter whose output consists of builtins.
"""

from __future__ import annotations

import contextlib
import functools
import keyword
import logging
import os
import warnings
from collections.abc import Iterable, Iterator
from inspect import Parameter, Signature
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.patching import is_tracing, patched, patched_annotations
from nestarray.importers.torch import below_autograd
from nestarray.importers.torch.aliases import detach_in_place, refuse_lost_writes
from nestarray.importers.torch.assignments import call_with_writes
from nestarray.importers.torch.autograd_functions import check_linear, patched_autograd_functions
from nestarray.importers.torch.ctc_loss import patched_ctc_loss
from nestarray.importers.torch.data_dependent import patched_data_dependent
from nestarray.importers.torch.distributions import patched_distributions
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.fake_quantization import patched_fake_quantization
from nestarray.importers.torch.flex_attention import patched_flex_attention
from nestarray.importers.torch.gradient_modes import detach_regions, patched_gradient_modes
from nestarray.importers.torch.jvp_concat import patched_concat
from nestarray.importers.torch.max_norm_embedding import patched_max_norm
from nestarray.importers.torch.normalizations import patched_normalizations
from nestarray.importers.torch.overwritten_parameters import keep_gradients, return_new_values
from nestarray.importers.torch.running_statistics import patched_running_statistics
from nestarray.importers.torch.seeded_random import patched_seeds
from nestarray.importers.torch.sequences import patched_sequences
from nestarray.importers.torch.tied_tensors import separate_tied
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
        handler.addFilter(_is_of_other_thread)
    try:
        # the exporter prints the incomplete program
        printing = patched((torch.export._trace, "print", lambda *_, **__: None))
        with printing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(_is_of_other_thread)


def _handlers_of_torch() -> Iterator[logging.Handler]:
    for name, logger in logging.Logger.manager.loggerDict.items():
        if name.partition(".")[0] == "torch":
            yield from getattr(logger, "handlers", ())  # placeholders of loggers have no handlers


def _is_of_other_thread(record: logging.LogRecord) -> bool:
    return not is_tracing()


def _adapter(module: Any, arguments: Iterable[str], keywords: Iterable[str]) -> Any:
    """`module` with outputs of dicts, lists and tuples only.

    Its signature has the arguments of the example call, for the exporter's messages. Modes see
    each call of torch, so they are active in forward only, not in the exporter's own passes.
    """
    import torch

    class Adapter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.source = module
            self.training = module.training

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            with patched_data_dependent(), patched_seeds(), patched_max_norm(self.training):
                return call_with_writes(self.source, args, kwargs)

    parameters = [("self", Parameter.POSITIONAL_ONLY)]
    parameters += [(name, Parameter.POSITIONAL_ONLY) for name in arguments]
    parameters += [(name, Parameter.KEYWORD_ONLY) for name in keywords]
    Adapter.forward.__signature__ = Signature([Parameter(*p) for p in parameters])  # type: ignore[attr-defined]
    return Adapter()


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
        separate_tied(program, type(module).__name__)
        detach_in_place(program)
        refuse_lost_writes(program, type(module).__name__)
        keep_gradients(program, type(module).__name__)
        detach_regions(program, type(module).__name__)
        program = program.run_decompositions({})
        return_new_values(program)
        return program

    try:
        with _patches():
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
    """Replace the parts of torch that the exporter does not support, or repeats."""
    import torch._export.utils
    import torch.export.exported_program
    import torch.fx.graph

    # torch looks up every composite operator anew for each of its 26 namespaces
    look_up_once = functools.cache(torch._export.utils._materialize_cpp_cia_ops)
    # and overrides hundreds of them for each of the 12 kinds of devices that it knows
    program = torch.export.exported_program
    keys = _dispatch_keys()
    autograd_keys = [getattr(torch._C.DispatchKey, f"Autograd{key.name}") for key in keys]
    with (
        patched_annotations(),
        patched_gradient_modes(),
        patched_autograd_functions(),
        patched_sequences(),
        patched_ctc_loss(),
        patched_running_statistics(),
        patched_flex_attention(),
        patched_vmap_rules(),
        patched_normalizations(),
        patched_concat(),
        patched_fake_quantization(),
        patched_distributions(),
        patched(
            (torch.Tensor, "register_hook", _refuse_hook),
            (torch.fx.graph, "_format_target", _attribute_text),
            (torch._export.utils, "_materialize_cpp_cia_ops", look_up_once),
            (program, "_BACKEND_KEYS_TO_OVERRIDE", keys),
            (program, "_AUTOGRAD_ALIAS_BACKEND_KEYS_TO_OVERRIDE", autograd_keys),
        ),
    ):
        yield


def _dispatch_keys() -> list[Any]:
    """The dispatch keys of the devices of this machine."""
    import torch

    accelerator = torch.accelerator.current_accelerator()
    devices = ["cpu", "meta", *([accelerator.type] if accelerator else [])]
    names = map(torch._C._dispatch_key_for_device, devices)
    return [getattr(torch._C.DispatchKey, name) for name in names]


def _refuse_hook(tensor: Any, hook: Any) -> Any:
    raise ConversionError(
        f"trace_graph: {getattr(hook, '__qualname__', hook)} is registered as a hook on the gradient "
        f"of a tensor[{', '.join(map(str, tensor.shape))}], and a graph runs no hooks; use a "
        "torch.autograd.Function with that backward, or change gradients where they are used"
    )


def _attribute_text(base: str, target: str) -> str:
    """An attribute of `base` as Python; torch's function prints ``root.class``."""
    for name in target.split("."):
        is_plain = name.isidentifier() and not keyword.iskeyword(name)
        base = f"{base}.{name}" if is_plain else f"getattr({base}, {name!r})"
    return base

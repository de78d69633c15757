"""Faults of the exporter itself.

These are names that are keywords, annotations of other threads, lines of conditions, and inference
mode: the exporter records regions under ``no_grad`` and ignores ``torch.inference_mode``, so that
gradients would pass through such a region.
"""

from __future__ import annotations

import contextlib
import keyword
import threading
from typing import Any

import torch
from torch.fx import traceback

from nestarray.importers.patching import patched_elsewhere
from nestarray.importers.torch.export_errors import line_of_forward
from nestarray.importers.workarounds import Workaround, always

# -- attributes whose names are keywords ------------------------------------------------------


def _attribute_text(base: str, target: str) -> str:
    """An attribute of `base` as Python; torch's function prints ``root.class``."""
    for name in target.split("."):
        base = f"{base}.{name}" if _is_plain(name) else f"getattr({base}, {name!r})"
    return base


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _has_keywords(trace: Any) -> bool:
    names = {name for path, _ in trace.module.named_modules() for name in path.split(".")}
    names |= {name.rpartition(".")[2] for name, _ in trace.module.named_parameters()}
    names |= {name.rpartition(".")[2] for name, _ in trace.module.named_buffers()}
    return not all(_is_plain(name) or name.isdecimal() for name in names if name)


KEYWORDS = Workaround(
    "names that are keywords",
    "torch.fx prints an attribute named like a keyword as root.class",
    issue="pytorch#188538",
    attributes={"torch.fx.graph._format_target": always(_attribute_text)},
    is_needed=_has_keywords,
)

# -- other threads ----------------------------------------------------------------------------


def _annotating_here(trace: Any) -> Any:
    """Annotate in this thread only; other threads would write into the same dict."""
    return patched_elsewhere(traceback, "annotate", lambda _: contextlib.nullcontext())


def _has_threads(trace: Any) -> bool:
    return threading.active_count() > 1


THREADS = Workaround(
    "annotations of other threads",
    "torch.fx.traceback.annotate writes the calls of all threads into one dict",
    issue="pytorch#184917",
    context=_annotating_here,
    context_names=("torch.fx.traceback.annotate",),
    is_needed=_has_threads,
)

# -- lines of conditions ----------------------------------------------------------------------


def _noting_lines(trace: Any, replace: Any) -> Any:
    def noted(self: Any, a: Any, tgt: Any, msg: str) -> None:
        if tgt.is_number:
            for source in self.var_to_sources.get(a, ()):
                if source.name not in trace.lines:
                    trace.lines[source.name] = line_of_forward()
        replace(self, a, tgt, msg)

    return noted


LINES = Workaround(
    "lines of conditions",
    "errors about open sizes do not name the line that needs a constant",
    attributes={"torch.fx.experimental.symbolic_shapes.ShapeEnv._set_replacement": _noting_lines},
)

# -- inference mode ---------------------------------------------------------------------------


def _entered(self: Any) -> None:
    self.no_grad = torch.no_grad() if self.mode else torch.enable_grad()
    self.no_grad.__enter__()


def _left(self: Any, *error: Any) -> None:
    self.no_grad.__exit__(*error)


INFERENCE_MODE = Workaround(
    "inference mode",
    "torch.export ignores torch.inference_mode",
    attributes={
        "torch.inference_mode.__enter__": always(_entered),
        "torch.inference_mode.__exit__": always(_left),
    },
)

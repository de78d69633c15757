"""``dynamic=``: the open sizes of a torch module's inputs.

A named size becomes torch's ``Dim.DYNAMIC``: the exporter infers the model's conditions on it,
and a size that the model needs as a constant is an error. Equal names are equal sizes. The
exporter treats 0 and 1 like other sizes (``backed_size_oblivious``), so that one graph also
accepts a batch of one, whatever the example's is; a test ``if x.shape[0] == 1`` becomes a condition of
the graph (`nestarray.importers.torch.size_choices`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.backends import opt_einsum
from torch.export import Dim
from torch.utils._pytree import keystr, tree_flatten_with_path, tree_unflatten

from nestarray.importers.size_spec import NativeSizes, SizeSpec, leaf_tree, place_of
from nestarray.importers.torch.export_errors import (
    advice,
    data_dependent_advice,
    line_of,
)
from nestarray.importers.workarounds import resolve


class Dynamic:
    """The open sizes of the example call, in the exporter's terms."""

    def __init__(self, sizes: SizeSpec, arguments: Mapping[str, Any]) -> None:
        self.sizes, self.arguments = sizes, dict(arguments)
        #: relation of sizes on which the program depends → the line that asks for it
        self.choices: dict[Any, str] = {}
        self.is_asked = sizes.is_asked
        pairs, structure = tree_flatten_with_path(self.arguments)
        self.leaves = {place_of(keystr, path): leaf for path, leaf in pairs}
        self.given = sizes.axes(leaf_tree(pairs, keystr), _NATIVE)
        self._everything = sizes.everything
        self._dims = {dim_name(d): d for d in self.given.values() if _is_dim(d)}
        #: torch's name of a size → the line that needs it as a constant
        self.lines: dict[str, str] = {}
        #: ``dynamic_shapes`` of torch.export.export
        self.shapes: Any = None
        if self.is_asked:
            asked = [self._dynamic_dims(place, leaf) for place, leaf in self.leaves.items()]
            self.shapes = tree_unflatten(asked, structure)

    def closed(self) -> Dynamic:
        """The same example with fixed sizes."""
        return Dynamic(SizeSpec(None), self.arguments)

    @contextlib.contextmanager
    def exporting(self) -> Iterator[None]:
        """The exporter's settings."""
        if not self.is_asked:
            yield
            return
        settings = resolve("torch.fx.experimental._config")
        oblivious: Any = contextlib.nullcontext()
        if hasattr(settings, "backed_size_oblivious"):
            oblivious = settings.patch(backed_size_oblivious=True)
        # opt_einsum orders contractions by sizes, which would make them constants
        try:
            with oblivious, opt_einsum.flags(enabled=False):
                yield
        finally:  # a failed export leaves its marks of dynamic sizes on the example
            clean = resolve("torch._export.non_strict_utils._clean_dynamic_markers")
            for tensor in filter(is_tensor, self.leaves.values()):
                if clean is not None:
                    clean(tensor)

    def _dynamic_dims(self, place: str, leaf: Any) -> dict[int, Any] | None:
        """The dynamic dimensions of one leaf of the example, in torch's terms."""
        if not is_tensor(leaf):
            return None
        if self._everything:
            return dict.fromkeys(range(leaf.ndim), Dim.AUTO) or None
        specs = {axis: spec for (at, axis), spec in self.given.items() if at == place}
        return {
            axis: self._dims.get(spec, Dim.DYNAMIC) if isinstance(spec, str) else spec
            for axis, spec in specs.items()
        } or None

    def explained(self, error: Exception) -> str:
        """torch's reason for a failed export, with the argument names of the call, and advice."""
        if data_dependent_advice(error):
            return data_dependent_advice(error)
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reasons = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
        if not reasons or not self.is_asked:
            reason = lines[0].rstrip(".") if lines else "no reason given"
            at = line_of(error)
            return f"{reason}{f', at {at}' if at else ''}. {advice(error)}"
        # the rest of torch's message is about its own interface
        text = "; ".join(map(self._reason_and_line, reasons))
        for place, leaf in self.leaves.items():
            for axis in range(getattr(leaf, "ndim", 0)):
                spec = self.given.get((place, axis))
                name = spec if isinstance(spec, str) else dim_name(spec)
                words = f"dimension {axis} of {place!r}"
                words = f"{name} ({words})" if name else words
                for source in (
                    f"{source_of(place)}.size()[{axis}]",
                    f"inputs{source_of(place)[1:]}.shape[{axis}]",
                ):
                    text = text.replace(source, words)
        return (
            f"{text}. A size on which the model depends in this way stays out of dynamic=, or gets "
            "a torch.export.Dim with the range that it has; len(x) and int() make numbers of sizes, "
            "x.shape[0] stays open"
        )

    def _reason_and_line(self, reason: str) -> str:
        """torch's reason, and the line that caused it."""
        lines = (line for name, line in self.lines.items() if line and name in reason)
        at = next(lines, "")
        return reason.partition(". If you're using")[0] + (f": {at}" if at else "")


def source_of(place: str) -> str:
    """torch's name of an argument: ``L['extra']['a'][0]``."""
    name, bracket, path = re.match(r"(\w+)([\[.]?)(.*)", place, re.S).groups()  # type: ignore[union-attr]
    return f"L['{name}']{bracket}{path}"


def is_tensor(x: Any) -> bool:
    return isinstance(x, torch.Tensor)


def _is_dim(x: Any) -> bool:
    return isinstance(x, torch.export.Dim)


def is_hint(x: Any) -> bool:
    """Whether it is torch's ``Dim.AUTO``, ``Dim.DYNAMIC`` or ``Dim.STATIC``."""
    return type(x).__name__ == "_DimHint"


def dim_name(dim: Any) -> str:
    return getattr(dim, "__name__", "")


_NATIVE = NativeSizes(lambda x: _is_dim(x) or is_hint(x), "a torch.export.Dim", dim_name)

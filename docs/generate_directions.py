"""Write the table of directions into README: what each importer reads, and every way back.

usage: python docs/generate_directions.py

A cell has the names that exist: importers, `Container.from_…`, `na.to_…`, and the methods of Graph
that make native modules. The tests fail if a name is in no row.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.importers import protocol

PAGE = Path(__file__).parent.parent / "README.md"
PLACE = re.compile(r"(<!-- directions -->\n).*?(<!-- /directions -->)", re.DOTALL)
DISPLAYED = {"numpy": "NumPy", "jax": "JAX", "torch": "PyTorch", "tensorflow": "TensorFlow"}


class Row(NamedTuple):
    """A kind of model: its importer's framework, and the names for its variables and modules."""

    source: str
    framework: str
    read: str = ""
    write: str = ""
    native: str = ""
    guide: str = ""


ROWS = (
    Row(
        "PyTorch",
        "torch",
        "from_torch_module",
        "to_torch_state_dict",
        "to_torch_module",
        "from_pytorch_to_jax",
    ),
    Row("Flax NNX", "jax", "from_flax", "to_flax", "to_flax_module", "from_jax_to_pytorch"),
    Row("Flax Linen", "jax", "from_flax", "to_flax", "to_linen_module", "from_jax_to_pytorch"),
    Row("Haiku", "jax", "from_haiku", "to_haiku", "to_haiku_module", "from_jax_to_pytorch"),
    Row("Equinox", "jax", "from_equinox", "to_equinox", "to_equinox_module", "from_jax_to_pytorch"),
    Row("JAX functions, optax", "jax", "from_pytree", "to_pytree", "", "from_jax_to_pytorch"),
    Row("Keras", "tensorflow", "from_keras", "load_into_keras", "to_keras_model", "from_keras"),
    Row(
        "TensorFlow functions, `tf.Module`", "tensorflow", native="to_tf_module", guide="from_keras"
    ),
    Row("NumPy functions", "numpy", guide="numpy_programs"),
    Row("functions over `na`, `na.nn`", "nestarray", guide="layers"),
)


def importers() -> set[str]:
    """The frameworks whose models are read; others may have registered importers of their own."""
    own = [x for x in protocol._IMPORTERS if type(x).__module__.startswith("nestarray.")]
    return {importer.framework for importer in own}


def cells(row: Row) -> list[str]:
    """The cells of a row: the source, one for each target, and the names."""
    is_read = row.framework in importers()
    variables = [
        f"`{name}`"
        for owner, name in ((na.Container, row.read), (na, row.write))
        if name and hasattr(owner, name)
    ]
    native = f"`{row.native}`" if row.native and hasattr(na.Graph, row.native) else ""
    target = "✓" if is_read else "weights" if variables else ""
    source = f"[{row.source}](docs/guide/{row.guide}.md)"
    return [source, *[target] * len(BACKENDS), ", ".join(variables), native]


def table() -> str:
    """The text of the table; rows and columns without content are left out."""
    names = [DISPLAYED[backend] for backend in BACKENDS]
    head = ["from \\ to", *names, "variables in, out", "the graph as a native module"]
    rows = [row for row in map(cells, ROWS) if any(row[1:])]
    columns = [c for c in range(len(head)) if any(row[c] for row in rows)]
    rule = [":-:" if head[c] in names else "---" for c in columns]
    lines = [[head[c] for c in columns], rule, *([row[c] for c in columns] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> str:
    """README with the table."""
    return PLACE.sub(lambda found: found[1] + table() + found[2], PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())

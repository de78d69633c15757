"""Names for annotations. `Array` marks array arguments of ops: `nestarray.dispatch` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

#: A native array of NumPy, JAX, PyTorch or TensorFlow, or a Container of these.
Array: TypeAlias = Any
#: Anything that `nestarray.as_dtype` reads.
DTypeLike: TypeAlias = Any
#: A Container, or dicts, lists, tuples … of arrays; see `nestarray.tree`.
Nest: TypeAlias = Any
Shape: TypeAlias = Sequence[int]
Axis: TypeAlias = int | Sequence[int] | None

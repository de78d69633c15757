"""Abstract evaluation: the shapes and dtypes of results, without elements, for sizes that are open.

An `Abstract` is an array without elements: a shape and a dtype. Its sizes are numbers or
`nestarray.sizes.Size`. Ops run on it by their bodies, and primitives by rules for shapes, one
file for each kind.

- `values`: `Abstract`, and `OpenSize`, a size as code sees it.
- `scope`: relations of the sizes; answers comparisons, and notes conditions.
- `interpreter`: computes ops by the rules of `elementwise`, `axes`, `creation`, `indexing`,
  `contraction` and `linalg`.
- `loops`: control flow; `evaluation`: runs a function on abstract arrays.
"""

from nestarray.transforms.abstract import (
    axes,
    contraction,
    creation,
    elementwise,
    indexing,
    linalg,
    loops,
)
from nestarray.transforms.abstract.evaluation import evaluate as evaluate
from nestarray.transforms.abstract.interpreter import apply as apply
from nestarray.transforms.abstract.scope import Scope as Scope
from nestarray.transforms.abstract.scope import UndecidedSize as UndecidedSize
from nestarray.transforms.abstract.values import Abstract as Abstract
from nestarray.transforms.abstract.values import OpenNumber as OpenNumber
from nestarray.transforms.abstract.values import OpenSize as OpenSize
from nestarray.transforms.abstract.values import as_code_sees as as_code_sees
from nestarray.transforms.abstract.values import expression as expression
from nestarray.transforms.abstract.values import rounded_size as rounded_size

#: The files of rules.
CHAPTERS = (axes, contraction, creation, elementwise, indexing, linalg)

Abstract.__control_flow__ = loops  # type: ignore[attr-defined]

"""Derivatives on NumPy, which has none of its own: reverse and forward mode as interpreters.

A value that is differentiated is a stand-in, `Taped` (it knows what it was computed from)
or `Dual` (it carries its tangent). Both are arrays of NumPy to the rest of the library and
interpreters in `nestarray.dispatch`: an op that meets one looks itself up in the one table
`RULES`. Its rule computes on the values behind and adds the derivative; an op without a rule
runs its default body, whose ops have rules. A rule serves both modes (`rules.py`): partial
derivatives, or a linear map with its transpose, or only the product with the Jacobian, whose
transpose reverse mode then finds by itself.

Rules are written in ops, and what stands behind a stand-in may be one of an outer derivative,
so derivatives nest to any order. Each has a level, later ones inside of earlier ones; an op
takes the innermost level off its arguments and sees all others as constants, which keeps the
perturbations of nested derivatives apart.

The package is imported by the first derivative that NumPy takes, never before.
"""

from nestarray.transforms.autodiff import numpy_functions as numpy_functions
from nestarray.transforms.autodiff import table as table
from nestarray.transforms.autodiff.custom import checkpoint as checkpoint
from nestarray.transforms.autodiff.custom import custom_vjp as custom_vjp
from nestarray.transforms.autodiff.forward import jvp as jvp
from nestarray.transforms.autodiff.reverse import linearize as linearize
from nestarray.transforms.autodiff.reverse import vjp as vjp

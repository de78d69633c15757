"""Automatic differentiation for NumPy: reverse and forward mode as interpreters of op calls.

A differentiated value is a stand-in for its array: `Taped` references the node that computed it,
`Dual` carries its tangent. Both are interpreter types of `nestarray.dispatch`: an op with such an
argument looks up its rule in `RULES`. The rule computes on the values and adds the derivative; an
op without a rule runs its default body, whose ops have rules. A rule serves both modes
(`rules.py`): partial derivatives, a linear map with its transpose, or only the product with the
Jacobian, which reverse mode transposes.

Rules consist of ops, and the value of a stand-in may be a stand-in of an outer derivative, so
derivatives nest to any order. Each derivative has a level. An op unwraps the innermost level of
its arguments and treats the others as constants, which prevents perturbation confusion.

The package is imported by the first derivative that NumPy takes, never before.
"""

from nestarray.transforms.autodiff import numpy_functions as numpy_functions
from nestarray.transforms.autodiff import table as table
from nestarray.transforms.autodiff.custom import checkpoint as checkpoint
from nestarray.transforms.autodiff.custom import custom_vjp as custom_vjp
from nestarray.transforms.autodiff.forward import jvp as jvp
from nestarray.transforms.autodiff.reverse import linearize as linearize
from nestarray.transforms.autodiff.reverse import vjp as vjp

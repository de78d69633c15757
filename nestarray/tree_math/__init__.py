"""Arithmetic over whole trees: reductions, norms, clipping, moving averages and raveling."""

from nestarray.tree_math import alignment as alignment
from nestarray.tree_math import arithmetic as arithmetic
from nestarray.tree_math import raveling as raveling
from nestarray.tree_math import reductions as reductions

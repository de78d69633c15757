"""Comparison of trees: leaf equality, `Diff`, three-way merge and `Schema`."""

from nestarray.comparison import diff as diff
from nestarray.comparison import merge as merge

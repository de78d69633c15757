"""Comparison of trees: leaf equality, `Diff`, three-way merge and `Schema`."""

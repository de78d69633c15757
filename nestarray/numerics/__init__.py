"""Algorithms shared by ops and backends, independent of a framework.

Functions of arrays take a namespace `xp` as first argument: any object with the ops as attributes,
such as `nestarray.ops`. Functions of settings (axes, windows, indices, shapes) compute with Python
numbers and raise nestarray's errors.
"""

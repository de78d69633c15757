"""Algorithms that ops and backends share, without a framework of their own.

Functions of arrays take a namespace `xp` as their first argument: any object that has the ops
they call under their names, such as `nestarray.ops`. Functions of settings (axes, windows,
indices, shapes) compute with Python's numbers and raise nestarray's errors.
"""

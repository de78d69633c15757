"""Argument checks that read arrays of every backend: shapes, axes, indices and dtypes.

`nestarray.diagnosis` runs them after a failed call. Backends and ops run a check before the
call if a framework would compute a wrong value.
"""

"""Helpers for tests of code over nestarray: comparison of arrays, and checks of derivatives."""

from nestarray.errors.unknown_names import suggest_names
from nestarray.testing.comparison import TOLERANCES, assert_close
from nestarray.testing.derivatives import check_grads

__all__ = ["TOLERANCES", "assert_close", "check_grads"]

suggest_names(__name__)

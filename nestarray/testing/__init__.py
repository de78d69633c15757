"""Helpers for tests of code over nestarray: comparison of arrays, checks of derivatives, a lint."""

from nestarray.errors.unknown_names import suggest_names
from nestarray.testing.comparison import TOLERANCES, assert_close
from nestarray.testing.derivatives import check_grads
from nestarray.testing.portability import Finding, lint

__all__ = ["TOLERANCES", "Finding", "assert_close", "check_grads", "lint"]

suggest_names(__name__)

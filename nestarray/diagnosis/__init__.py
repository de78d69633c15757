"""Errors for calls that a framework refused.

Calls that succeed pay for no check. If a backend's function raises, `explain` raises our error
in its place, with the framework's as its cause. It takes the first answer of:

1. the kinds of settings that the signature declares (`kinds`);
2. the op's checks of shapes, axes and indices (`RULES`);
3. the checks in the op's default body;
4. whether the framework lacks a kernel for the dtypes (`dtype_errors`);
5. a list of the arguments.

This guarantees the same exception type on every backend. If 1 to 3 have no answer, an error over the
values of a matrix becomes a `LinearAlgebraError` (`matrix_errors`); other errors over values and
errors while a framework traces stay the framework's own.
"""

from nestarray.diagnosis.explanation import explain as explain
from nestarray.diagnosis.kinds import check_kinds as check_kinds

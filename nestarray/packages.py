"""Packages that nestarray can do without, imported by the function that needs one."""

from __future__ import annotations

import importlib
from typing import Any

from nestarray.dynamo import compile_time_constant
from nestarray.errors import MissingFrameworkError


@compile_time_constant
def optional(package: str, needing: str, *, extra: str, instead: str = "") -> Any:
    """The module `package`.

    Args:
        package: its name.
        needing: the subject and verb of the error, ``"HDF5 files need"``.
        extra: the extra of nestarray that installs it.
        instead: what can be done without it, ``", or …"``.

    Raises:
        MissingFrameworkError: it is not installed; names the extra that brings it.

    Example:
        >>> from nestarray import packages
        >>> packages.optional("numpy", "arrays need", extra="all").__name__
        'numpy'
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingFrameworkError(
            f"{needing} the package {package!r}, which cannot be imported ({error}). "
            f"Install it with: pip install 'nestarray[{extra}]'{instead}"
        ) from error

"""The model and the example inputs that a command names.

``module:object`` and ``file.py:object`` import Python code of the user, as ``python -m`` does. Files
of TorchScript are loaded by torch, which runs no Python code.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestarray import dtypes, lazy_imports
from nestarray.backends.transfer import move
from nestarray.cli.console import Failure
from nestarray.errors import NestarrayError
from nestarray.importers.protocol import Request, importer_of

_INPUT = re.compile(r"(?:(\w+)=)?([\d,]*)(?::(\w+)(?::(\d+))?)?$")
_SEED = 0


class Example(NamedTuple):
    """A model, and the arguments to trace it with."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    dynamic: dict[str, dict[int, str]]


def example(given: argparse.Namespace) -> Example:
    """The model and the example inputs of the arguments.

    Raises:
        Failure: the model cannot be imported, or no inputs are given.
    """
    model, args, kwargs = _named(given.model), (), {}
    if isinstance(model, tuple) and len(model) in (2, 3):
        model, args, kwargs = _with_inputs(given.model, *model)
    if inspect.isfunction(model) and not inspect.signature(model).parameters:
        raise Failure(
            f"{given.model!r} is a function without arguments; if it makes the model, write "
            f"{given.model}()"
        )
    if given.input:
        args, kwargs = _drawn(given.input)
    elif not args and not kwargs:
        raise Failure(
            f"{given.model!r} comes without example inputs; give --input SHAPE:DTYPE for each, such as "
            "--input 1,3,224,224:float32, or name a function that returns (model, inputs): "
            "file.py:make()"
        )
    if given.input:
        framework = given.framework or _framework(model, args, kwargs)
        args = tuple(move(x, framework) for x in args)
        kwargs = {name: move(x, framework) for name, x in kwargs.items()}
    return Example(model, args, kwargs, _dynamic(given.dynamic))


def _with_inputs(name: str, model: Any, args: Any, kwargs: Any = None) -> tuple[Any, Any, Any]:
    """The parts of ``(model, inputs)`` or ``(model, args, kwargs)``."""
    if isinstance(args, dict) and kwargs is None:
        return model, (), args
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    if not isinstance(kwargs, (dict, type(None))):
        raise Failure(
            f"{name!r} gives {type(kwargs).__name__} for the keyword arguments, expected a dict"
        )
    return model, args, kwargs or {}


def _framework(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The framework of the arrays that a model takes."""
    if isinstance(model, functools.partial):
        return _framework(model.func, args, kwargs)
    module = sys.modules.get("torch")
    if module is not None and isinstance(model, module.nn.Module):
        return "torch"
    importer = importer_of(Request(model))
    return importer.framework if importer and importer.framework in ("torch", "jax") else "numpy"


# -- models -----------------------------------------------------------------------------------


def _named(name: str) -> Any:
    """The object of ``module:object``, ``file.py:object``, or of a TorchScript file."""
    place, colon, path = name.rpartition(":")
    if not colon:
        return _file(name)
    is_call = path.endswith("()")
    keys = path.removesuffix("()").split(".")
    if not all(key.isidentifier() for key in keys):
        raise Failure(f"{name!r} names no object; expected module:object or file.py:object")
    module = code_of_user(name, lambda: _module(place))
    try:
        found = functools.reduce(getattr, keys, module)
    except AttributeError as error:
        raise Failure(f"{name!r}: {error}") from error
    return code_of_user(name, found) if is_call else found


def code_of_user(name: str, function: Callable[[], Any]) -> Any:
    """Call a function that runs the user's code, whose errors are shown in one line.

    Raises:
        Failure: it raised an error other than nestarray's.
    """
    try:
        return function()
    except (Failure, NestarrayError):
        raise
    except Exception as error:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise Failure(f"{name!r} raised {text} (--traceback shows where)") from error


def _module(place: str) -> Any:
    if not place.endswith(".py"):
        if "" not in sys.path:
            sys.path.insert(0, "")  # the working directory, as for python -m
        return importlib.import_module(place)
    path = Path(place)
    if not path.is_file():
        raise Failure(f"{place!r}: there is no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses and pickles look their module up
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module


def _file(name: str) -> Any:
    path = Path(name)
    if path.suffix not in (".pt", ".ts", ".pth"):
        raise Failure(
            f"{name!r} names no model; expected module:object, file.py:object, or a file of "
            "torch.jit.save (.pt); load other files in Python, and name the object"
        )
    if not path.is_file():
        raise Failure(f"{name!r}: there is no such file")
    torch = lazy_imports.optional("torch", "TorchScript files need", extra="torch")
    try:
        return torch.jit.load(name, map_location="cpu")
    except RuntimeError as error:
        first = str(error).strip().splitlines()[0]
        raise Failure(
            f"{name!r} is not a file of torch.jit.save ({first}); weights are not a model: name the "
            "module that holds them, as file.py:object"
        ) from error


# -- inputs -----------------------------------------------------------------------------------


def _drawn(texts: list[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arrays of ``--input``, from a fixed seed."""
    rng = np.random.default_rng(_SEED)
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        name, array = _array(text, rng)
        if name:
            kwargs[name] = array
        elif kwargs:
            raise Failure(f"--input {text}: a position follows a name; inputs with names are last")
        else:
            args.append(array)
    return tuple(args), kwargs


def _array(text: str, rng: np.random.Generator) -> tuple[str, np.ndarray]:
    if text.endswith(".npy"):
        name, _, file = text.rpartition("=")
        try:
            return name, np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise Failure(f"--input {text}: {' '.join(str(error).split())}") from error
    match = _INPUT.match(text)
    if match is None or ",," in text:
        raise Failure(
            f"--input {text}: expected SHAPE:DTYPE, such as 1,3,224,224:float32 or ids=8,16:int64:30000, "
            "or a .npy file"
        )
    name, sizes, dtype, high = match.groups()
    shape = tuple(int(n) for n in sizes.split(",") if n)
    kind = dtypes.as_dtype(dtype or "float32")
    if kind.kind == "bool":
        return name or "", np.ones(shape, bool)
    if kind.kind in ("int", "uint"):
        return name or "", rng.integers(0, int(high or 2), shape).astype(kind.name)
    array = rng.standard_normal(shape)
    return name or "", array.astype("float32" if kind.name == "bfloat16" else kind.name)


def _dynamic(texts: list[str]) -> dict[str, dict[int, str]]:
    """``x=0`` as ``{"x": {0: "x_0"}}``; ``x=0:batch`` names the size."""
    found: dict[str, dict[int, str]] = {}
    for text in texts:
        name, _, axis = text.partition("=")
        number, _, size = axis.partition(":")
        if not name.isidentifier() or not number.isdigit():
            raise Failure(
                f"--dynamic {text}: expected NAME=AXIS or NAME=AXIS:SIZE, such as x=0:batch"
            )
        found.setdefault(name, {})[int(number)] = size or f"{name}_{number}"
    return found

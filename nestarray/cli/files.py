"""``nestarray show``, ``diff`` and ``convert-weights``: checkpoints."""

from __future__ import annotations

import argparse
import math
import warnings
from pathlib import Path
from typing import Any

from nestarray.cli.console import Console, Failure, num_bytes
from nestarray.comparison.diff import diff as difference
from nestarray.container import Container
from nestarray.container.leaf import size
from nestarray.container.spec import join_path
from nestarray.display.outline import key_text
from nestarray.display.table import Table, bytes_text
from nestarray.errors import ArgumentError, ConversionError
from nestarray.errors.text import counted
from nestarray.interchange.naming.conventions import convention_map, convention_of
from nestarray.interchange.naming.key_map import KeyMap
from nestarray.interchange.naming.match import match
from nestarray.interchange.naming.parameter_names import is_counter
from nestarray.storage import formats, shards
from nestarray.storage.atomic import check_place
from nestarray.storage.files import load, save
from nestarray.storage.source import Source, reading
from nestarray.storage.stored import StoredArray

#: Rows of a tree, unless ``--all``.
_ROWS = 120
#: Suffixes of formats whose arrays are mapped into memory.
_MAPPED = (".safetensors", ".pt", ".pth", ".bin")


def show(given: argparse.Namespace, console: Console) -> int:
    """Print the tree of a checkpoint; no element is read."""
    source = formats.open_source("Container.load", Path(given.file), given.format)
    with reading(source.path):
        c = formats.with_stored_arrays(source, "numpy", False, given.flat)
    total = len(c.paths())
    if given.match:
        c = c.select(*given.match)
        if not c.paths():
            raise Failure(f"no leaf of {given.file!r} matches {', '.join(map(repr, given.match))}")
    arrays = [(path, x) for path, x in c.flat_items() if isinstance(x, StoredArray)]
    parts = {id(x): x for _, x in arrays}.values()  # tied arrays count once
    count, stored = sum(map(size, parts)), num_bytes(parts)
    console.json({
        "file": str(source.path),
        "format": _format_of(source),
        "leaves": len(c.paths()),
        "parameters": count,
        "bytes": stored,
        "metadata": source.metadata,
        "arrays": [{"path": path, "dtype": x.dtype_name, "shape": list(x.shape), "bytes": x.nbytes} for path, x in arrays],
        "values": {path: _plain(x) for path, x in c.flat_items() if not isinstance(x, StoredArray)},
    })  # fmt: skip
    of = f" of {total:,}" if given.match else ""
    head = f"{source.path}: {_format_of(source)}, {len(c.paths()):,}{of} leaves, {count:,} parameters, {bytes_text(stored)}"
    console.text(head, "bold")
    if given.all:
        console.table(_all_leaves(c))
    else:
        console.tree(c.spec, c.leaves(), _ROWS)
    for key, value in source.metadata.items():
        text = " ".join(value[:200].split())
        console.text(f"{key_text(key)}: {text if len(text) <= 80 else f'{text[:79]}…'}", "dim")
    source.close()
    return 0


def _all_leaves(c: Container) -> Table:
    """A row for each leaf."""

    def cells(leaf: Any) -> tuple[str, str, int | None]:
        if isinstance(leaf, StoredArray):
            return leaf.dtype_name, str(list(leaf.shape)), leaf.nbytes
        return type(leaf).__name__, repr(leaf), None

    rows = [(path, *cells(leaf)) for path, leaf in c.flat_items()]
    names = ("path", "dtype", "shape", "bytes")
    return Table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def _format_of(source: Source) -> str:
    return type(source).__module__.rpartition(".")[2]


def _plain(value: Any) -> Any:
    """The value, if JSON has it, or its text."""
    is_finite = isinstance(value, float) and math.isfinite(value)
    return value if is_finite or isinstance(value, (int, str, type(None))) else repr(value)


def _read(path: str, format: str | None, *patterns: str) -> Container:
    """A checkpoint, mapped into memory if its format can be."""
    place = Path(path)
    is_mapped = format is None and (shards.is_index(place) or place.suffix in _MAPPED)
    return load(path, *patterns, format=format, backend="numpy", memory_map=is_mapped)


# -- names ------------------------------------------------------------------------------------


def _flatten(given: argparse.Namespace) -> dict[str, int]:
    found = {}
    for text in given.flatten:
        name, equal, channels = text.rpartition("=")
        if not equal or not channels.isdigit():
            raise Failure(f"--flatten: got {text!r}, expected LEAF=CHANNELS, such as fc/weight=64")
        found[name] = int(channels)
    return found


def _matched(given: argparse.Namespace, make: Any) -> KeyMap:
    """The key map that `make` returns; layers whose order of inputs is undecided are an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        keymap = make(_flatten(given))
    if caught:
        first = str(caught[0].message).partition(": give flatten")[0].removeprefix("match: ")
        raise Failure(
            f"{first}: say --flatten LEAF=CHANNELS for its {counted(len(caught), 'leaf', 'leaves')}; "
            "LEAF=1 keeps the order"
        )
    return keymap


def _have_other_names(a: Container, b: Container) -> bool:
    """Whether two trees share no path, or have the names of different libraries."""
    old, new = {*a.paths()}, {*b.paths()}
    if old == new or not old or not new:
        return False
    try:
        return not old & new or convention_of(a) != convention_of(b)
    except ArgumentError:  # names of no library
        return False


# -- differences ------------------------------------------------------------------------------


def diff(given: argparse.Namespace, console: Console) -> int:
    """Print the differences of two checkpoints; 1 if there are any."""
    a, b = (_read(path, given.format, *given.match) for path in (given.a, given.b))
    keymap, lost = None, []
    if given.map:
        keymap = KeyMap.load(given.map)
    elif given.names == "match" or (given.names == "auto" and _have_other_names(a, b)):
        keymap = _matched(given, lambda flatten: match(a, b, flatten=flatten))
    if keymap is not None:
        used = {pair.source for pair in keymap.pairs}
        named = zip(a.spec.paths, a.spec.path_names, strict=True)
        lost = [name for path, name in named if path not in used and not is_counter(path)]
        a = keymap.apply(a, strict=False)
    found = difference(
        a,
        b,
        rtol=given.rtol,
        atol=given.atol,
        check_dtype=not given.ignore_dtype,
        check_order=False,
    )
    document = found.to_dict()
    if keymap is not None:
        document |= {"names": "matched", "pairs": len(keymap.pairs), "unmatched": lost}
    console.json(document)
    if keymap is not None:
        console.text(
            f"names differ; {counted(len(keymap.pairs), 'leaf', 'leaves')} matched by {'the map' if given.map else 'name and shape'}",
            "dim",
        )
        for path in lost:
            console.text(f"- {key_text(path)}  without a counterpart")
    console.text(str(found))
    return int(bool(found) or bool(lost))


# -- conversion -------------------------------------------------------------------------------


def check_output(path: Path) -> None:
    """Raise an error unless a Container can be written to `path`, before any work is done."""
    name = formats.name_of("Container.save", path, None)
    if not hasattr(formats.FORMATS[name], "write"):
        raise Failure(
            f"{str(path)!r} is a file of {name}, which is read only; write .safetensors, .npz, .h5 or .zarr"
        )
    check_place(path)


def lost_leaves(keymap: KeyMap) -> list[str]:
    """The leaves of both trees without a counterpart; counters of batches are optional."""
    return [name for names in keymap.unmatched for name in names if not is_counter((name,))]


def convert_weights(given: argparse.Namespace, console: Console) -> int:
    """Write the weights of A under other names and in another layout."""
    target = Path(given.b)
    check_output(target)
    c = _read(given.a, given.format)
    if given.map:
        keymap = KeyMap.load(given.map)
    elif given.like:
        like = load(given.like, lazy=True)
        keymap = _matched(given, lambda flatten: match(c, like, flatten=flatten))
    else:
        keymap = _matched(
            given, lambda flatten: convention_map(c, given.to, source=given.source, flatten=flatten)
        )
    if given.save_map:  # before leaves without a counterpart raise an error: it can be edited
        keymap.save(given.save_map)
    if keymap.ambiguous or lost_leaves(keymap):
        console.text(str(keymap))
        raise ConversionError(
            f"{counted(len(keymap.ambiguous) + len(lost_leaves(keymap)), 'leaf', 'leaves')} of A or B "
            "without a decided counterpart; write the map with --save-map, edit it, and give it with --map"
        )
    converted = keymap.apply(c)
    save(converted, target)
    console.json({"file": str(target), "leaves": len(converted.paths()), "map": [
        {"from": join_path(pair.source), "to": join_path(pair.target),
         "steps": [step.to_plain() for step in pair.steps], "confidence": pair.confidence}
        for pair in keymap.pairs]})  # fmt: skip
    console.text(str(keymap))
    console.text(f"{target}: {counted(len(converted.paths()), 'leaf', 'leaves')} written", "bold")
    return 0

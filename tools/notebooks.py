"""Run the notebooks and write their outputs into them.

usage: python tools/notebooks.py [PATH…]    runs all of notebooks/ without arguments

Each notebook runs in its own kernel, in an empty folder. A notebook that fails stays as it was.
Outputs contain no times, process numbers or paths, so a second run changes nothing.

The sizes of a notebook stand in one cell tagged `parameters`. Its metadata has the values of the
short form, `{"nestarray": {"short": {"steps": 3}}}`, in which the tests run it. The metadata also
has the hash of the sources that the outputs belong to.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"

#: Seconds of one core that a notebook may take.
LIMIT = 180


def read(path: Path) -> Any:
    """The notebook of a file, in the current format."""
    import nbformat

    return nbformat.read(path, as_version=4)


def sources(notebook: Any, *, short: bool = False) -> list[str]:
    """The code cells; `short` assigns the short values after the cell of parameters.

    Raises:
        ValueError: if a short value has no assignment in the cell of parameters.
    """
    values = notebook.metadata["nestarray"]["short"]
    cells = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        source = cell.source
        if "parameters" in cell.metadata.get("tags", ()):
            unknown = values.keys() - assigned(source)
            if unknown:
                raise ValueError(f"the cell of parameters does not assign {sorted(unknown)}")
            if short:
                source += "".join(f"\n{name} = {value!r}" for name, value in values.items())
        cells.append(source)
    return cells


def assigned(source: str) -> set[str]:
    """The names that a cell of parameters assigns."""
    return {
        target.id
        for statement in ast.parse(source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def source_hash(notebook: Any) -> str:
    """A hash of the code."""
    return hashlib.sha256("\0".join(sources(notebook)).encode()).hexdigest()[:16]


def execute(path: Path) -> None:
    """Run a notebook and write its outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = read(path)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=None,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],  # else each kernel warns about its TCP ports
        ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [kept for o in cell.outputs if (kept := without_progress(o))]
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python"}  # without the version
    notebook.metadata["nestarray"]["source"] = source_hash(notebook)
    nbformat.validate(notebook)
    partial = path.with_suffix(".partial")
    nbformat.write(notebook, partial)
    partial.replace(path)


def without_progress(output: Any) -> Any:
    """An output without progress lines, which depend on the time; None if nothing else is in it."""
    if output.output_type != "stream":
        return output
    # a carriage return starts its line again
    lines = [line.rsplit("\r", 1)[-1] for line in output.text.split("\n")]
    output.text = "\n".join(lines)
    return output if output.text.strip() else None


def main(paths: list[str]) -> None:
    """Run the notebooks at `paths`, or all."""
    environment = {
        "OMP_NUM_THREADS": "1",  # the number of threads changes sums
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_ENABLE_ONEDNN_OPTS": "0",  # otherwise TensorFlow prints that it is on
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(NOTEBOOKS.parent), os.environ.get("PYTHONPATH")])
        ),
    }
    os.environ.update(environment)
    for path in map(Path, paths) if paths else sorted(NOTEBOOKS.glob("*.ipynb")):
        start = os.times()
        execute(path)
        end = os.times()
        seconds = end.elapsed - start.elapsed
        # other programs do not count; a kernel that has ended is in the times of the children
        computed = end.children_user - start.children_user
        print(f"{path.name}: {seconds:.0f} s, {computed:.0f} s of one core", flush=True)
        if computed > LIMIT:
            sys.exit(f"{path.name} took more than {LIMIT} s; make its parameters smaller")


if __name__ == "__main__":
    main(sys.argv[1:])

"""The notebooks run in their short form, and the files have the outputs of a complete run."""

from __future__ import annotations

import linecache
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt
from nbformat import v4

import nestarray as na
from tools import notebooks

ROOT = Path(na.__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in PATHS]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]+)?\)")
LIMIT_BYTES = 1_000_000


@pytest.fixture
def jax_settings() -> Iterator[None]:
    """Notebooks may change the settings of JAX, which belong to the process."""
    import jax

    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.one_in(8)
@pytest.mark.usefixtures("jax_settings")
@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_short_form_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cells run in this process: kernels would import the frameworks again."""
    monkeypatch.chdir(tmp_path)  # they save files
    monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    module = types.ModuleType("notebook")
    monkeypatch.setitem(sys.modules, "notebook", module)  # the module of its classes
    with plt.rc_context():
        for number, source in enumerate(notebooks.sources(notebooks.read(path), short=True), 1):
            name = f"{path.name}[{number}]"
            lines = source.splitlines(keepends=True)
            monkeypatch.setitem(linecache.cache, name, (len(source), None, lines, name))
            exec(compile(source, name, "exec"), module.__dict__)


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_file_is_complete(path: Path) -> None:
    assert path.stat().st_size < LIMIT_BYTES
    notebook = notebooks.read(path)
    first, *_, last = notebook.cells
    title, audience, *_ = first.source.split("\n\n")
    assert title.startswith("# ")
    assert audience.startswith("**For whom.** ")
    for target in LINK.findall("".join(c.source for c in notebook.cells if "](" in c.source)):
        assert "://" in target or (path.parent / target).exists(), target
    assert "../docs/guide/" in last.source
    assert sum("parameters" in cell.metadata.get("tags", ()) for cell in notebook.cells) == 1


@pytest.mark.parametrize("path", PATHS, ids=NAMES)
def test_outputs_are_those_of_the_code(path: Path) -> None:
    notebook = notebooks.read(path)
    is_fresh = notebook.metadata["nestarray"].get("source") == notebooks.source_hash(notebook)
    assert is_fresh, f"{path.name} has changed since it ran; run `make notebooks`"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    for output in outputs:
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text  # warnings
        text = shown(output)
        assert not re.search(r"(?<![\w.:/])/(home|tmp|usr|opt|root|work|Users)/", text), text
        assert not re.search(r"\bat 0x[0-9a-f]+", text), text


def shown(output: Any) -> str:
    """The text of an output, in all its forms."""
    data = output.get("data", {})
    return "\n".join(
        [output.get("text", ""), *(data[kind] for kind in data if kind.startswith("text/"))]
    )


def test_short_values_belong_to_the_cell_of_parameters() -> None:
    notebook = notebooks.read(PATHS[0])
    notebook.metadata["nestarray"]["short"] = {"stepz": 1}
    with pytest.raises(ValueError, match=r"does not assign \['stepz'\]"):
        notebooks.sources(notebook, short=True)


def test_progress_lines_are_no_output() -> None:
    line = "\rverify: gradients, 2 s\rverify: gradients, 3 s\r                      \r"
    progress = v4.new_output("stream", name="stderr", text=line)
    assert notebooks.without_progress(progress) is None
    mixed = v4.new_output("stream", name="stdout", text=f"{line}agrees\n  twice\n")
    assert notebooks.without_progress(mixed).text == "agrees\n  twice\n"
    table = v4.new_output("display_data", data={"text/plain": "a\rb"})
    assert notebooks.without_progress(table).data == {"text/plain": "a\rb"}

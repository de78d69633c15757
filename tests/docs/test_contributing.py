"""The worked examples of CONTRIBUTING.md run; each section in a process, since they add ops and rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nestarray as na

ROOT = Path(na.__file__).parent.parent
SECTIONS = {
    heading: re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for heading, text in re.findall(
        r"^## (Add [^\n]*)\n(.*?)(?=^## |\Z)",
        (ROOT / "CONTRIBUTING.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
}
#: The first line of a block that is a file: of a new backend, or of the framework itself.
FILE = re.compile(r"# (?:nestarray/backends/)?((?:(\w+)/)?\w+\.py)\n")

#: Adds a folder of backends, as a change of `nestarray.config.BACKENDS` would.
PREPARE = """
import sys
import nestarray.backends
folder, *names = sys.argv[1:]
nestarray.backends.__path__.append(folder)
for module in [m for name, m in sys.modules.items() if name.startswith("nestarray")]:
    if hasattr(module, "BACKENDS"):
        module.BACKENDS = (*module.BACKENDS, *names)
"""


def test_there_are_six_tasks() -> None:
    assert len(SECTIONS) == 6
    assert all(SECTIONS.values())


@pytest.mark.parametrize("heading", SECTIONS)
def test_example_runs(heading: str, tmp_path: Path) -> None:
    blocks, names = [PREPARE], set()
    for block in SECTIONS[heading]:
        file = FILE.match(block)
        if file is None:
            blocks.append(block)
            continue
        folder = tmp_path / "backends" if file[2] else tmp_path
        path = folder / file[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block)
        names |= {file[2]} - {None}
    script = tmp_path / "example.py"
    future = "from __future__ import annotations\n"  # stands first in a program
    script.write_text(future + "".join(blocks).replace(future, ""))
    command = [sys.executable, str(script), str(tmp_path / "backends"), *names]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-3000:]

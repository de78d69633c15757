"""Every Python block of the README runs, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path

import nestarray as na

ROOT = Path(na.__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_readme(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(tmp_path)  # it saves files
    text = (ROOT / "README.md").read_text()
    namespace: dict[str, object] = {"__name__": "readme"}
    blocks = [(m[1], m[2], text[: m.start()].count("\n") + 1) for m in BLOCK.finditer(text)]
    assert sum(language == "python" for language, _, _ in blocks) >= 5
    printed = ""
    for language, code, line in blocks:
        if language == "python":
            # blank lines in front, so that a traceback names the line of the README
            exec(compile("\n" * line + code, str(ROOT / "README.md"), "exec"), namespace)
            printed = capsys.readouterr().out
        elif language == "text":
            assert code == printed


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target} does not exist"

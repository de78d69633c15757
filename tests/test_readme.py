"""Every Python block of the README and of the guide runs, in order, in one namespace a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nestarray as na

ROOT = Path(na.__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_blocks_run(
    page: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)  # they save files
    text = (ROOT / page).read_text()
    namespace: dict[str, object] = {"__name__": "page"}
    blocks = [(m[1], m[2], text[: m.start()].count("\n") + 1) for m in BLOCK.finditer(text)]
    assert sum(language == "python" for language, _, _ in blocks) >= 5
    printed = ""
    for language, code, line in blocks:
        if language == "python":
            # blank lines in front, so that a traceback names the line of the page
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), namespace)
            printed = capsys.readouterr().out
        elif language == "text":
            assert code == printed


def test_files_that_the_architecture_names_are_there() -> None:
    """Its paths are those of the repository, or below nestarray/ or a folder of it."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = set(re.findall(r"`([\w/]+(?:\.py|\.pyi|\.md|\.json|/))`", text))
    assert len(paths) > 100
    for path in sorted(paths):
        found = (ROOT / path).exists() or any((ROOT / "nestarray").rglob(path.rstrip("/")))
        assert found, f"ARCHITECTURE.md names {path}, which is not there"


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target} does not exist"

"""Every Python block of README, ARCHITECTURE, questions and guide runs, in order, in one namespace a page.

The pages' files and links lead somewhere.
"""

from __future__ import annotations

import re
import shlex
from operator import attrgetter
from pathlib import Path

import pytest

import nestarray as na
from nestarray import cli

ROOT = Path(na.__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
GUIDE = sorted(
    p.relative_to(ROOT).as_posix() for p in (ROOT / "docs/guide").glob("*.md") if p.stem != "README"
)
PAGES = ["README.md", "ARCHITECTURE.md", "docs/faq.md", *GUIDE]
SLOW = {"docs/guide/debugging_a_conversion.md", "docs/guide/generation.md"}


MARKS = {"README.md": pytest.mark.release} | dict.fromkeys(SLOW, pytest.mark.full)


@pytest.mark.parametrize("page", [pytest.param(page, marks=MARKS.get(page, ())) for page in PAGES])
def test_blocks_run(
    page: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)  # they save files
    monkeypatch.setenv("CI", "true")  # and open no browser
    text = (ROOT / page).read_text()
    namespace: dict[str, object] = {"__name__": "page"}
    blocks = [(m[1], m[2], text[: m.start()].count("\n") + 1) for m in BLOCK.finditer(text)]
    assert any(language in ("python", "sh") for language, _, _ in blocks)
    printed = ""
    for language, code, line in blocks:
        if language == "python":
            # blank lines in front, so that a traceback names the line of the page
            exec(compile("\n" * line + code, str(ROOT / page), "exec"), namespace)
            printed = capsys.readouterr().out
        elif language == "sh" and code.startswith("nestarray "):
            run_commands(code)
            printed = capsys.readouterr().out
        elif language == "text":
            assert code == printed


def run_commands(block: str) -> None:
    """Run the commands of nestarray in a block; a comment names an exit code other than 0."""
    for line in block.splitlines():
        command, _, comment = line.partition("#")
        expected = int(comment.removeprefix(" exit code ")) if "exit code" in comment else 0
        assert cli.main(shlex.split(command)[1:]) == expected, line


@pytest.mark.parametrize("page", ["docs/faq.md", "docs/comparison.md", *GUIDE])
def test_page_begins_with_its_audience(page: str) -> None:
    title, first, *_ = (ROOT / page).read_text().split("\n\n")
    assert title.startswith("# ")
    assert first.startswith("For ")


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_architecture_is_short() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text()) <= 9000


def test_files_that_the_architecture_names_are_there() -> None:
    """Its paths are in the repository, in nestarray/ or in a folder of it."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = set(re.findall(r"`([\w/]+(?:\.py|\.pyi|\.md|\.json|/))`", text))
    assert len(paths) > 10
    for path in sorted(paths):
        found = (ROOT / path).exists() or any((ROOT / "nestarray").rglob(path.rstrip("/")))
        assert found, f"ARCHITECTURE.md names {path}, which is not there"


def test_the_citation_names_the_version() -> None:
    assert f"\nversion: {na.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_page_of_the_guide_is_in_its_index() -> None:
    index = (ROOT / "docs/guide/README.md").read_text()
    assert sorted(f"docs/guide/{page}" for page in re.findall(r"\((\w+\.md)\)", index)) == GUIDE


@pytest.mark.parametrize("page", [*PAGES, "docs/comparison.md", "docs/guide/README.md"])
def test_names_in_the_text_are_there(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text())
    for code in re.findall(r"`([^`\n]+)`", text):
        for path in re.findall(r"\b(?:na|nestarray)\.([A-Za-z_][\w.]*\w)", code):
            assert attrgetter(path)(na) is not None, f"{page}: {code}"


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target, anchor in LINK.findall(page.read_text()):
            if "://" in target:
                continue
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name}: {target} does not exist"
            if anchor:
                text = BLOCK.sub("", file.read_text())
                anchors = {anchor_of(heading) for heading in HEADING.findall(text)}
                assert anchor in anchors, f"{page.name}: {target} has no heading for #{anchor}"


def anchor_of(heading: str) -> str:
    """The name under which pages of GitHub link to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")

"""Build the documentation site.

usage: python docs/site/build.py [FOLDER]    default: build/site

The sources are copied to `FOLDER-source` in the layout of the repository, so that links lead to the
same files there and on the site. README is the front page. Warnings, such as broken links, are
errors.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import reference
import restructured_text
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[2]
#: The first pages of a part of the contents; the others follow in alphabetical order.
FIRST = (
    "ops",
    "layers",
    "derivatives",
    "kinks",
    "edges",
    "torch_coverage",
    "jax_coverage",
    "numpy_coverage",
    "keras_coverage",
    "tensorflow_coverage",
    "models",
    "conformance",
    "clients",
    "CHANGELOG",
)
ABOUT = ("faq", "comparison")
FUNCTIONS = """Functions
=========

Each function takes arrays of any backend, and Containers of them. :doc:`../../ops` has the
implementation, dtypes and gradients on each backend.

.. toctree::
   :glob:

   *
"""
LINK = re.compile(r"\]\(([^):#\s]+)")
#: A link to the folder of the notebooks.
FOLDER = re.compile(r"\]\(((?:\.\./)*notebooks)/?\)")


def stage(folder: Path) -> None:
    """Write the sources of the site into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "docs/reference/functions").mkdir(parents=True)
    for file in ROOT.glob("notebooks/*.ipynb"):
        copy(file, folder)
    for pattern in ("*.md", "docs/*.md", "docs/guide/*.md"):
        for file in ROOT.glob(pattern):
            place = copy(file, folder)
            text = place.read_text()
            linked = {(file.parent / target).resolve() for target in LINK.findall(text)}
            for other in linked:  # images, examples
                if other.is_file() and other.suffix != ".md":
                    copy(other, folder)
            place.write_text(FOLDER.sub(r"](\1/index.md)", text))
    for page in reference.pages():
        text = restructured_text.page(page)
        (folder / "docs/reference" / f"{page.file}.rst").write_text(text)
    (folder / "docs/reference/functions/index.rst").write_text(FUNCTIONS)
    (folder / "notebooks/index.md").write_text(notebooks(folder / "notebooks"))
    (folder / "README.md").rename(folder / "index.md")
    with (folder / "index.md").open("a") as front:
        front.write(contents(folder))


def copy(file: Path, folder: Path) -> Path:
    """Copy a file of the repository to its place below `folder`."""
    place = folder / file.relative_to(ROOT)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, place)
    return place


def notebooks(folder: Path) -> str:
    """The list of the notebooks, with the first lines of each."""
    rows = ["# Notebooks\n\nTutorials with outputs and figures. `make notebooks` runs them.\n"]
    for file in sorted(folder.glob("*.ipynb")):
        title, audience, *_ = "".join(json.loads(file.read_text())["cells"][0]["source"]).split(
            "\n\n"
        )
        audience = audience.removeprefix("**For whom.** ")
        rows.append(f"- [{title.removeprefix('# ')}]({file.name}): {audience}")
    return "\n".join(rows) + "\n"


def contents(folder: Path) -> str:
    """The table of contents."""
    guide = re.findall(r"\((\w+)\.md\)", (ROOT / "docs/guide/README.md").read_text())
    reference_pages = [page.file for page in reference.pages() if "/" not in page.file]
    about = {file.stem for file in folder.glob("docs/*.md")} - {*ABOUT}
    project = {file.stem for file in folder.glob("*.md")} - {"index"}
    parts = {
        "Start": [f"docs/{page}" for page in ABOUT],
        "Guide": [f"docs/guide/{page}" for page in ("README", *guide)],
        "Notebooks": [
            f"notebooks/{name}"
            for name in ("index", *sorted(p.stem for p in folder.glob("notebooks/*.ipynb")))
        ],
        "Reference": [
            f"docs/reference/{file}"
            for file in (*reference_pages[:2], "functions/index", *reference_pages[2:])
        ],
        "Coverage and speed": [f"docs/{page}" for page in sorted(about, key=rank)],
        "Project": sorted(project, key=rank),
    }
    return "".join(toctree(caption, pages) for caption, pages in parts.items())


def rank(page: str) -> tuple[int, str]:
    """The place of a page in its part of the contents."""
    return FIRST.index(page) if page in FIRST else len(FIRST), page


def toctree(caption: str, pages: Iterable[str]) -> str:
    """A hidden table of contents, shown at the side."""
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def build(site: Path) -> int:
    """Write the site into `site`; the exit status of Sphinx."""
    source = site.with_name(f"{site.name}-source")
    stage(source)
    settings = str(Path(__file__).parent)
    return build_main(
        ["-b", "html", "-c", settings, "-q", "-W", "--keep-going", str(source), str(site)]
    )


if __name__ == "__main__":
    raise SystemExit(build(Path(*sys.argv[1:] or [ROOT / "build/site"])))

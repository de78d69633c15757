"""Build the documentation site.

usage: python docs/site/build.py [FOLDER]    default: build/site

The sources are copied to `FOLDER-source` in the layout of the repository, so that links lead to the
same files there and on the site. README is the front page. Warnings, such as those of broken links,
are errors.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import reference
import restructured_text
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[2]
#: Captions and pages of the table of contents; the reference and the notebooks are added.
COVERAGE = ("ops", "kinks", "torch_coverage", "jax_coverage", "models", "conformance", "benchmarks")
FUNCTIONS = """Functions
=========

Each function takes arrays of any backend, and Containers of them. :doc:`../../ops` has the
implementation, dtypes and gradients on each backend.

.. toctree::
   :glob:

   *
"""
PROJECT = ("CHANGELOG", "CONTRIBUTING", "ARCHITECTURE")


def stage(folder: Path) -> None:
    """Write the sources of the site into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "docs/reference/functions").mkdir(parents=True)
    for pattern in ("*.md", "docs/**/*.md", "docs/images/*", "notebooks/*.ipynb", "examples/*.py"):
        for file in ROOT.glob(pattern):
            place = folder / file.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    for page in reference.pages():
        text = restructured_text.page(page)
        (folder / "docs/reference" / f"{page.file}.rst").write_text(text)
    (folder / "README.md").rename(folder / "index.md")
    with (folder / "index.md").open("a") as front:
        front.write(contents(folder))


def contents(folder: Path) -> str:
    """The table of contents."""
    guide = re.findall(r"\((\w+)\.md\)", (ROOT / "docs/guide/README.md").read_text())
    notebooks = sorted(p.stem for p in (folder / "notebooks").glob("*.ipynb"))
    files = [page.file for page in reference.pages() if "/" not in page.file]
    (folder / "docs/reference/functions/index.rst").write_text(FUNCTIONS)
    return "".join(
        toctree(caption, pages)
        for caption, pages in {
            "Guide": [f"docs/guide/{page}" for page in ("README", *guide)],
            "Notebooks": [f"notebooks/{name}" for name in notebooks],
            "Reference": [
                f"docs/reference/{file}" for file in [*files[:2], "functions/index", *files[2:]]
            ],
            "Coverage and speed": [f"docs/{name}" for name in COVERAGE],
            "Project": PROJECT,
        }.items()
    )


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

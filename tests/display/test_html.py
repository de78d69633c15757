"""Containers as HTML, read as text and opened in a real browser."""

from __future__ import annotations

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.config import BACKENDS, use_backend
from nestarray.display import table, tree_html
from tests.abstract import on_abstract_arrays, on_unknown_shapes
from tests.browser import FLAGS, PROGRAM, needs_browser
from tests.trees import nests, roots


class Reader(HTMLParser):
    """Tags that open and close in order, and the text between them."""

    VOID = frozenset(("meta", "path"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack[-1:] != ["style"]:
            self.words.append(data)


def read(c: na.Container) -> Reader:
    return Reader(c._repr_html_())


def words(c: na.Container) -> str:
    return " ".join(" ".join(read(c).words).split())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_tree(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(layer={"w": na.ones((2, 3)), "h": na.ones((4,), dtype="bfloat16")}, x=[1])
    assert words(c) == (
        f"Container(3 leaves, 10 elements, {backend}) 32 B "
        "layer 2 leaves, 10 elements 32 B w f32[2, 3] 24 B norm 2.449 from 1 to 1 "
        "h bf16[4] 8 B norm 2 from 1 to 1 "
        "x [list] 1 leaf 0 1"
    )
    assert read(c).tags.count("svg") == 2


def test_small_ones() -> None:
    assert words(na.Container()) == "Container(empty)"
    assert words(na.Container(a={})) == "Container(empty) a 0 leaves"
    array = na.Container(np.ones(2, "int8"))
    assert array._repr_html_() is None  # notebooks print the repr
    assert "i8[2]" in array.to_html()


def test_alike_blocks_are_one() -> None:
    c = na.Container(layers=[{"w": np.ones(3)} for _ in range(12)])
    assert "0 … 11 12 × 1 leaf, 3 elements (here 0) 24 B w f64[3] 24 B norm 1.732" in words(c)


AWKWARD = st.text(alphabet="<>&\"'/\\=\n\0\x7f\ud800é深 abscript", max_size=12)


@settings(max_examples=40)
@given(roots(nests(AWKWARD)), st.dictionaries(AWKWARD, st.integers(), max_size=3))
def test_keys_and_values_are_text(tree: dict[str, Any], more: dict[str, int]) -> None:
    reader = read(na.Container({"tree": tree, "more": more}))
    assert set(reader.tags) <= {"div", "style", "details", "summary", "span"}


def test_histograms_are_of_the_largest_floating_leaves() -> None:
    c = na.Container({f"k{2 * i}": np.arange(i + 2.0) for i in range(tree_html.HISTOGRAMS + 10)})
    reader = read(c)
    assert reader.tags.count("svg") == tree_html.HISTOGRAMS
    assert "norm" not in re.sub("<style>.*</style>", "", c.to_html(norms=False), flags=re.DOTALL)
    assert "<svg" not in c.to_html(histograms=False)
    text = words(c)
    assert f"k{2 * (tree_html.HISTOGRAMS + 9)} f64[51] 408 B norm 207.2 from 0 to 50" in text
    assert "k0 f64[2] 16 B norm 1 k2" in text
    others = na.Container(a=np.ones(9, "int32"), b=np.ones(1), c="x", d=np.full(9, np.nan))
    assert read(others).tags.count("svg") == 0


def test_a_histogram_says_how_values_are_distributed() -> None:
    x = np.concatenate([np.zeros(75), np.ones(25), [np.nan, np.inf]])
    page = na.Container(x=x)._repr_html_()
    assert re.search(r'<path d="([^"]*)"', page)[1] == "M0 20V0.0h1V20zM23 20V13.3h1V20z"  # type: ignore[index]
    assert "<title>from 0 to 1</title>" in page
    assert "from -1e+300 to 1e+300" in na.Container(x=np.asarray([-1e300, 1e300]))._repr_html_()


def test_no_more_than_a_sample_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def counted(values: np.ndarray) -> np.ndarray:
        seen.append(values.size)
        return values.astype(np.float64)

    monkeypatch.setattr("nestarray.display.statistics._as_floats", counted)
    na.Container(x=np.lib.stride_tricks.as_strided(np.ones(1), (10**6,), (0,)))._repr_html_()
    assert len(seen) == 1
    assert seen[0] < 3 * tree_html._SAMPLE


def test_bounded_for_any_tree() -> None:
    trees = [
        na.Container({f"k{2 * i}": np.ones(i % 5 + 1) for i in range(10_000)}),
        na.Container({f"a{i}": {f"b{j}": np.ones(i + j) for j in range(100)} for i in range(100)}),
        na.Container({"k" * 10_000 + str(2 * i): "v" * 10_000 for i in range(100)}),
    ]
    for c in trees:
        page = c._repr_html_()
        assert len(page) < 200_000
        assert Reader(page).tags.count("div") + Reader(page).tags.count("details") < 1000
    assert "9,601 more" in words(trees[0])


def test_what_has_no_values() -> None:
    pages = on_abstract_arrays(words)
    assert all(page.endswith("a f32[2, 3] 24 B") for page in pages)
    assert [page[-8:] for page in on_unknown_shapes(words)] == ["f32[?, 3]"[-8:], "f32[...]"]


def test_tables() -> None:
    c = na.Container({f"<k{i}>": np.ones(i) for i in range(300)})
    reader = Reader(c.summary()._repr_html_())
    assert reader.tags.count("tr") == table.TABLE_ROWS + 2  # the head and the total
    assert reader.tags.count("tfoot") == 1
    assert "<k299>" in reader.words
    described = Reader(c.describe(statistics=True)._repr_html_())
    assert described.tags.count("tfoot") == 0
    assert described.words.count("float64") == table.TABLE_ROWS - 1


def test_a_page() -> None:
    page = na.Container(a=1).to_html()
    assert page.startswith("<!DOCTYPE html>\n<html")
    assert "<script" not in page
    assert "http" not in page


# -- in a browser -------------------------------------------------------------------------------


def browse(page: Path, *flags: str) -> str:
    """The browser's output for a page."""
    command = [str(PROGRAM), *FLAGS, f"--user-data-dir={page.parent / 'profile'}", *flags]
    run = subprocess.run(
        [*command, page.as_uri()], capture_output=True, timeout=120, check=True, cwd=page.parent
    )
    return run.stdout.decode()


#: The visible text of the page, before and after a click.
_LOOK = """
<script>
const shown = key => [...document.querySelectorAll('.key')]
  .filter(e => e.textContent === key).map(e => e.checkVisibility() && e.offsetHeight > 0).join();
const node = [...document.querySelectorAll('summary')].find(e => e.textContent.startsWith('big'));
const seen = [document.title, document.scripts.length, shown('w0'), shown('small'), shown('deep')];
node.click();
seen.push(shown('w0'), node.parentElement.open);
node.click();
seen.push(shown('w0'), document.querySelectorAll('svg').length);
const svg = document.querySelector('svg').getBoundingClientRect();
seen.push(svg.width > 20 && svg.height > 10);
const style = getComputedStyle(document.querySelector('.key'));
seen.push(style.color, getComputedStyle(document.querySelector('.leaf')).display);
document.body.insertAdjacentHTML('beforeend', '<p id="seen">' + seen.join('|') + '</p>');
</script>
"""


def page_of(tmp_path: Path) -> Path:
    c = na.Container(
        {
            "small": {"deep": np.linspace(0, 1, 100)},
            "big": {f"w{i * 2}": np.ones(3) for i in range(40)},
            "<script>document.title = 'run'<": {"script>": np.ones(2)},
            "<img src=x onerror=\"document.title='run'\">": "</style><script>document.title = 'run'</script>",
            "<b onclick='x'>": 1,
        }
    )
    page = tmp_path / "page.html"
    page.write_text(c.to_html().replace("</body>", f"{_LOOK}</body>"), encoding="utf-8")
    return page


@needs_browser
@pytest.mark.parametrize(("theme", "color"), [("0", "rgb(255, 255, 255)"), ("1", "rgb(0, 0, 0)")])
def test_in_a_browser(tmp_path: Path, theme: str, color: str) -> None:
    page = page_of(tmp_path)
    dom = browse(page, f"--blink-settings=preferredColorScheme={theme}", "--dump-dom")
    seen = re.findall(r'<p id="seen">(.*?)</p>', dom)  # the first is in the script itself
    title, scripts, *rest = seen[-1].split("|")
    assert (title, scripts) == ("Container", "1")  # the test's own; no key and no value is run
    assert rest == [
        "false", "true", "true",  # big is closed at first, the small node is open
        "true", "true", "false",  # a click opens it, another closes it
        "40", "true", color, "flex",
    ]  # fmt: skip


@needs_browser
def test_a_picture_of_the_page(tmp_path: Path) -> None:
    from matplotlib.image import imread

    browse(page_of(tmp_path), "--screenshot=shot.png", "--window-size=800,600")
    pixels = imread(tmp_path / "shot.png")[..., :3]
    blue = (np.abs(pixels - np.asarray([0x4A, 0x90, 0xD9]) / 255) < 0.02).all(-1)
    assert blue.sum() > 300  # the histograms
    assert (pixels < 0.3).all(-1).sum() > 1000  # the text

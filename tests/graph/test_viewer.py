"""`Graph.show`: the diagram as data, the file, and the page in a browser."""

from __future__ import annotations

import json
import re
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import dtypes, errors
from nestarray.graph import Aval, Graph
from nestarray.graph.node import Call, Input
from nestarray.graph.viewer.diagram import Diagram, diagram
from nestarray.graph.viewer.page import page_text
from tests.browser import Browser, needs_browser


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.act = torch.nn.ReLU()
        self.mix = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.act(self.lin(x))
        return self.act(self.mix(x) + x)  # act runs twice


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.fixture(scope="module")
def graph() -> Graph:
    torch.manual_seed(0)
    return na.trace_graph(Net().eval(), torch.ones(3, 4))


@pytest.fixture(scope="module")
def wrong() -> Graph:
    """A graph with a head that subtracts 1."""
    graph = na.trace_graph(Net().eval(), torch.ones(3, 4))
    (head,) = [node for node in graph.calls if node.module == "head"]
    head.target = lambda *args: torch.nn.functional.linear(*args) - 1
    return graph


def loop(x: jax.Array, w: jax.Array) -> Any:
    def step(carry: jax.Array, row: jax.Array) -> Any:
        carry = jnp.tanh(row @ w + carry)
        return carry, jax.lax.cond(carry.sum() > 0, lambda c: c * 2, lambda c: c - 1, carry)

    return jax.lax.scan(step, jnp.zeros(4), x)


def large_graph(calls: int, has_modules: bool) -> Graph:
    """A chain with residual connections, made without a trace."""
    aval = Aval((4, 8), dtypes.float32)
    x = skip = value = Input("x", source="x", aval=aval)
    nodes = [x]
    for i in range(calls):
        module = f"blocks.{i // 100}.{['attn', 'mlp'][i // 50 % 2]}.{i // 10 % 5}"
        place = {"module": module if has_modules else "", "line": f"net.py:{i}", "aval": aval}
        if i % 10 == 9:
            function, name, args = na.add, "add", (value, skip)
        else:
            function, name, args = na.relu, "relu", (value,)
        value = Call(f"{name}_{i}", target=function, target_name=f"na.{name}", args=args, **place)  # type: ignore[arg-type]
        skip = value if name == "add" else skip
        nodes.append(value)
    return Graph(
        name="Large", backend="numpy", train=False, nodes=nodes, signature=((x,), {}),
        output=value, state_updates={}, v=na.Container(), s=na.Container(), constants=na.Container(),
    )  # fmt: skip


def tree(found: Diagram, group: int = 0) -> list[Any]:
    """The names in a group, in the order of execution; inner groups as (name, content)."""
    inner = [
        (first_box(found, i), (g.name, tree(found, i)))
        for i, g in enumerate(found.groups)
        if g.parent == group
    ]
    hidden = {g.box for g in found.groups}
    own = [(i, b.op) for i, b in enumerate(found.boxes) if b.group == group and i not in hidden]
    return [name for _, name in sorted([*inner, *own], key=lambda pair: pair[0])]


def first_box(found: Diagram, group: int) -> int:
    inner = [first_box(found, i) for i, g in enumerate(found.groups) if g.parent == group]
    own = [i for i, box in enumerate(found.boxes) if box.group == group]
    return min([*inner, *own])


def test_modules_are_groups(graph: Graph) -> None:
    # a module around one call is its label; act, which runs twice, is not one group
    linear, relu = "torch.nn.functional.linear", "torch.relu"
    block = [linear, relu, ("mix", [linear, "torch.tanh"]), "torch.add", relu]
    found = diagram(graph)
    assert tree(found) == ["input", ("blocks", [("0", block), ("1", block)]), linear, "output"]
    assert [box.label for box in found.boxes[1:4]] == ["lin", "act", "0"]
    assert found.groups[3].path == "blocks.0.mix"


def test_a_box_has_what_the_node_has(graph: Graph) -> None:
    box = diagram(graph).boxes[1]
    assert (box.op, box.type, box.module, box.inputs) == (
        "torch.nn.functional.linear", "float32[3, 4]", "blocks.0.lin", [0],
    )  # fmt: skip
    assert box.call == (
        "torch.nn.functional.linear(x, v['blocks/0/lin/weight'], v['blocks/0/lin/bias'])"
    )
    assert re.fullmatch(r"linear\.py:\d+", box.line)
    assert [(v.source, v.path, v.type, v.size, v.bytes) for v in box.variables] == [
        ("v", "blocks/0/lin/weight", "float32[4, 4]", 16, 64),
        ("v", "blocks/0/lin/bias", "float32[4]", 4, 16),
    ]


def test_paths_of_jax() -> None:
    def apply(x: jax.Array) -> jax.Array:
        with jax.named_scope("Net/Dense_0"):
            x = jnp.sin(jnp.cos(x))
            with jax.named_scope("...ij,...jk"):
                return jnp.exp(jnp.tan(x))

    found = diagram(na.trace_graph(apply, jnp.ones((2, 2))))
    assert [(group.name, group.path) for group in found.groups[1:]] == [
        ("Net.Dense_0", "Net/Dense_0"), ("...ij,...jk", "Net/Dense_0/...ij,...jk"),
    ]  # fmt: skip


def test_new_state_and_random_calls() -> None:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Dropout()).train()
    boxes = diagram(na.trace_graph(net, torch.ones(3, 4), train=True)).boxes
    assert {box.writes for box in boxes if box.writes} == {
        "0/running_mean", "0/running_var", "0/num_batches_tracked",
    }  # fmt: skip
    assert [box.op for box in boxes if box.is_random] == ["torch.nn.functional.dropout"]


def test_loops_and_branches_are_groups() -> None:
    found = diagram(na.trace_graph(loop, jnp.ones((6, 3)), jnp.ones((3, 4))))
    (scan,) = [content for content in tree(found) if isinstance(content, tuple)]
    assert scan[0] == "scan"
    assert scan[1][0][0] == "step"
    inner = scan[1][0][1]
    assert inner[:2] == ["input", "input"]
    assert [name for name, _ in inner[-3][1]] == ["branch_0", "branch_1"]
    assert inner[-1] == "return"
    assert [group.kind for group in found.groups] == [
        "module",
        "call",
        "body",
        "call",
        "body",
        "body",
    ]
    # w is read by the call inside of the loop, not by the loop
    numbers = {box.name: i for i, box in enumerate(found.boxes)}
    assert numbers["w"] in found.boxes[numbers["dot_general"]].inputs
    assert numbers["w"] not in found.boxes[found.groups[1].box].inputs


def many_arguments() -> Graph:
    def apply(x: jax.Array, params: list[jax.Array]) -> jax.Array:
        with jax.named_scope("Net"):
            for w in params:
                x = jnp.tanh(x @ w)
            return x

    return na.trace_graph(apply, jnp.ones((2, 2)), [jnp.ones((2, 2))] * 9)


def test_many_arguments_are_one_group() -> None:
    found = diagram(many_arguments())
    assert tree(found) == [
        ("arguments", ["input"] * 10),
        ("Net", ["jax.lax.dot_general", "jax.lax.tanh"] * 9),
        "output",
    ]


def test_errors_of_a_report(graph: Graph, wrong: Graph) -> None:
    report = wrong.verify(nodes=True, gradients=False)
    found = diagram(wrong, report)
    box = found.boxes[found.first_difference]
    assert (box.label, found.differs, found.notes) == ("head", True, ["differs from the source"])
    assert box.error is not None
    assert box.error["is_at_fault"]
    assert sum(box.error is not None for box in found.boxes) == len(graph.calls)
    good = diagram(graph, graph.verify(gradients=False, nodes=False))
    assert (good.differs, good.first_difference) == (False, -1)
    assert good.notes == [
        "agrees with the source",
        "calls were not compared; graph.verify(nodes=True) compares each",
    ]
    with pytest.raises(errors.ArgumentError) as caught:
        diagram(large_graph(3, False), report)
    assert str(caught.value) == (
        "Graph.show: report: got the report of another graph of Net, with the call 'linear'; "
        "expected graph.verify() of the graph that is shown"
    )


def test_errors_are_of_the_calls_outside_of_loops() -> None:
    graph = na.trace_graph(loop, jnp.ones((6, 3)), jnp.ones((3, 4)))
    report = graph.verify(nodes=True, gradients=False)
    boxes = diagram(graph, report).boxes
    named = {box.name for box in boxes if box.error is not None}
    assert named == {row.name for row in report.nodes} != set()
    assert {box.group for box in boxes if box.error is not None} == {0}


# -- the file -----------------------------------------------------------------------------------


def test_one_file_without_network(graph: Graph, tmp_path: Path) -> None:
    page = graph.show(tmp_path / "net.html", open=False)
    text = page.path.read_text()
    assert [entry.name for entry in tmp_path.iterdir()] == ["net.html"]
    assert "default-src 'none'" in text
    assert not re.findall(r'(?:src|href)="(?!data:)|@import|url\((?!#)', text)
    data = json.loads(re.search(r'id="graph">(.*?)</script>', text)[1])  # type: ignore[index]
    assert len(data["boxes"]) == len(graph.calls) + 2
    assert repr(page) == f"Page({str(tmp_path / 'net.html')!r})"
    assert Path(page) == page.path


def test_a_temporary_file_by_default(graph: Graph) -> None:
    page = graph.show(open=False)
    assert page.path.read_text().startswith("<!DOCTYPE html>")
    page.path.unlink()
    page.path.parent.rmdir()


def test_a_missing_directory(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(errors.MissingFileError, match="there is no directory"):
        graph.show(tmp_path / "none" / "net.html", open=False)


def test_a_failure_leaves_the_old_file(graph: Graph, tmp_path: Path) -> None:
    path = tmp_path / "net.html"
    path.write_text("old")
    with pytest.raises(errors.ArgumentError):
        large_graph(3, False).show(path, report=graph.verify(nodes=True, gradients=False))
    assert path.read_text() == "old"


def test_the_browser_opens_where_there_is_a_screen(
    graph: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = tmp_path / "net.html"
    for name in ("CI", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    graph.show(path, open=False)
    assert opened == []
    graph.show(path)
    assert opened == [path.as_uri()]
    monkeypatch.setenv("CI", "true")
    graph.show(path)
    monkeypatch.delenv("CI")
    monkeypatch.delenv("DISPLAY")
    graph.show(path)
    monkeypatch.setenv("DISPLAY", ":0")
    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", notebook)  # type: ignore[arg-type]
    graph.show(path)
    assert opened == [path.as_uri()]


def test_a_notebook_shows_the_page(graph: Graph, tmp_path: Path) -> None:
    frame = graph.show(tmp_path / "net.html", open=False)._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert frame.count("<") == 2  # the page is escaped
    assert 'sandbox="allow-scripts"' in frame


# -- in a browser -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """The window; the test fails if the page wrote to the console or made a request."""
    yield window
    messages, window.messages = window.messages, []
    assert messages == []


def shown(browser: Browser, graph: Graph, folder: Path, report: Any = None) -> None:
    page = folder / "page.html"
    page.write_text(page_text(graph, report))
    browser.open(page)


def names(browser: Browser, selector: str = "#boxes .box, #groups .group") -> set[str]:
    return set(
        browser.run(f"[...document.querySelectorAll('{selector}')].map(e => e.dataset.name)")
    )


def details(browser: Browser) -> str:
    return browser.run("document.querySelector('#details:not([hidden])')?.innerText || ''")


@needs_browser
def test_modules_open_and_close(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    assert {"blocks", "blocks.0", "linear", "tanh"} <= names(browser)
    browser.click_on("#collapse")
    assert names(browser) == {"x", "blocks", "linear_4", "output"}
    browser.click_on("[data-name='blocks']")
    assert {"blocks.0", "blocks.1"} <= names(browser, "#boxes .box")
    assert "blocks" in names(browser, "#groups .group")
    assert details(browser).startswith("×\nblocks\n")
    browser.click_on("[data-name='blocks'] text", dy=0.5)  # the heading of the open group
    assert names(browser) == {"x", "blocks", "linear_4", "output"}
    browser.click_on("#expand")
    assert {"blocks.0.mix", "blocks.1.mix", "tanh_1"} <= names(browser)


@needs_browser
def test_a_click_shows_the_call(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    assert details(browser) == ""
    browser.click_on("[data-name='linear'] .main")
    text = details(browser)
    for part in (
        "torch.nn.functional.linear", "float32[3, 4]", "linear.py:", "blocks.0.lin",
        "linear = torch.nn.functional.linear(x, v['blocks/0/lin/weight'], v['blocks/0/lin/bias'])",
        "aten.linear.default", "float32[4, 4]", "64 B",
    ):  # fmt: skip
        assert part in text
    assert browser.run("document.querySelectorAll('.edge.into').length") == 3  # root, blocks, 0
    browser.run("[...document.querySelectorAll('#details .link')].at(-1).click()")  # its reader
    browser.frame()
    assert "torch.relu" in details(browser)
    browser.click_on("#details .close")
    assert details(browser) == ""


@needs_browser
def test_search(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    browser.click_on("#collapse")
    browser.key("/", "/")
    browser.type("blocks.1 TANH")
    assert browser.run("document.querySelector('#results').innerText").startswith(
        "1 result\n\ntanh"
    )
    browser.key("Enter")  # opens the modules around it
    assert "blocks.1.mix" in names(browser, "#groups .group")
    assert "torch.tanh" in details(browser)
    browser.run("(s => {s.value = 'linear.py'; s.dispatchEvent(new Event('input'))})(search)")
    browser.frame()
    assert browser.run("results.innerText").startswith("5 results")
    browser.run("(s => {s.value = 'nothing'; s.dispatchEvent(new Event('input'))})(search)")
    assert browser.run("results.innerText") == "0 results"


@needs_browser
def test_shapes_on_edges(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    browser.click_on("#expand")
    labels = browser.run("[...document.querySelectorAll('#labels text')].map(e => e.textContent)")
    assert labels.count("3×4") == 12
    assert labels.count("3×2") == 1
    assert browser.run("document.querySelector('.box.input .sub').textContent") == "float32[3, 4]"


@needs_browser
def test_keys(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    browser.click_on("#collapse")
    browser.run("document.querySelector('#diagram').focus()")
    browser.key("ArrowDown")
    assert details(browser).startswith("×\nx\n")
    browser.key("ArrowDown")
    assert details(browser).startswith("×\nblocks\n")
    browser.key("Enter")
    assert "blocks.0" in names(browser, "#boxes .box")
    scale = browser.run("view.k")
    browser.key("+", "+")
    assert browser.run("view.k") == pytest.approx(1.25 * scale)
    browser.key("Escape")
    assert details(browser) == ""


@needs_browser
def test_pan_and_zoom(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    x, y, k = browser.run("[view.x, view.y, view.k]")
    browser.wheel(600, 400, -100)
    assert browser.run("view.k") > k
    browser.run("Object.assign(view, {k: 1})")
    x, y = browser.run("[view.x, view.y]")
    for kind, at in (("mousePressed", 100), ("mouseMoved", 130), ("mouseReleased", 130)):
        browser.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=at,
            y=200,
            button="left",
            buttons=1,
            clickCount=1,
        )
    assert browser.run("[view.x, view.y]") == pytest.approx([x + 30, y])
    assert details(browser) == ""  # a drag is not a click


@needs_browser
def test_loops_in_the_page(browser: Browser, tmp_path: Path) -> None:
    shown(browser, na.trace_graph(loop, jnp.ones((6, 3)), jnp.ones((3, 4))), tmp_path)
    assert {"scan", "step", "switch", "branch_0", "branch_1"} <= names(browser, "#groups .group")
    browser.click_on(".group.call text", dx=0.1)
    assert "jax.lax.scan(step, (full,), (x,))" in details(browser)
    assert names(browser, "#groups .group") == set()


@needs_browser
def test_many_arguments_in_the_page(browser: Browser, tmp_path: Path) -> None:
    shown(browser, many_arguments(), tmp_path)
    labels = browser.run("[...document.querySelectorAll('#labels text')].map(e => e.textContent)")
    assert labels.count("10 arrays") == 1  # one edge for all of them
    assert browser.run("document.querySelector('.tag').textContent") == "↤ 2 arrays"
    assert browser.run("scene.wires.filter(w => w.tag).length") == 9
    browser.click_on(".tag", dx=0.2)
    assert "jax.lax.dot_general" in details(browser)
    browser.click_on("#expand")
    assert "arguments" in names(browser, "#groups .group")


@needs_browser
def test_errors_as_colors(browser: Browser, wrong: Graph, tmp_path: Path) -> None:
    shown(browser, wrong, tmp_path, wrong.verify(nodes=True, gradients=False))
    browser.click_on("#expand")
    fault = "[data-name='linear_4']"
    assert (
        browser.run(f"document.querySelector(\"{fault}\").getAttribute('style')")
        == "--c: var(--fault)"
    )
    assert "differs from the source" in browser.run("heading.textContent")
    assert browser.run("legend.innerText").startswith("equal")
    browser.click_on("#difference")
    assert "FAIL" in details(browser)
    browser.run("colors.value; document.getElementById('colors').value = 'operations'")
    browser.run("document.getElementById('colors').dispatchEvent(new Event('change'))")
    browser.frame()
    assert (
        browser.run(f"document.querySelector(\"{fault}\").getAttribute('style')")
        == "--c: var(--product)"
    )


@needs_browser
def test_light_and_dark(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    shown(browser, graph, tmp_path)
    background = "getComputedStyle(document.body).backgroundColor"
    browser.theme("light")
    light = browser.run(background)
    browser.theme("dark")
    dark = browser.run(background)
    assert light != dark
    browser.click_on("#theme")
    assert browser.run(background) == light
    browser.click_on("#theme")
    assert browser.run(background) == dark
    browser.theme("light")


@needs_browser
def test_on_a_phone(browser: Browser, graph: Graph, tmp_path: Path) -> None:
    browser.resize(390, 800)
    shown(browser, graph, tmp_path)
    assert browser.run("document.documentElement.scrollWidth") == 390
    browser.click_on("[data-name='x'] .main")
    sheet = browser.run(
        "(b => [b.x, b.width])(document.querySelector('#details').getBoundingClientRect())"
    )
    assert sheet == [0, 390]
    browser.resize(1280, 800)


NASTY = (
    "</script><script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">"
)


def nasty_graph() -> Graph:
    """A graph with markup in all of its text."""
    c = na.Container({NASTY: np.ones(2)})
    aval = Aval((2,), dtypes.float64)
    weight = Input("w", source="v", path=NASTY, aval=aval)
    x = Input("x", source="x", aval=aval)
    call = Call("y", target=na.add, target_name="na.add", args=(x, weight), aval=aval,
        module=f"<b>{NASTY.replace('.', '')}</b>.<i>a</i>", line=NASTY, origin=NASTY)  # fmt: skip
    twin = Call("z", target=na.relu, target_name="na.relu", args=(call,), aval=aval,
        module=call.module)  # fmt: skip
    return Graph(
        name=NASTY, backend="numpy", train=False, nodes=[x, weight, call, twin], signature=((x,), {}),
        output=twin, state_updates={}, v=c, s=na.Container(), constants=na.Container(),
    )  # fmt: skip


@needs_browser
def test_text_of_a_graph_is_never_executed(browser: Browser, tmp_path: Path) -> None:
    shown(browser, nasty_graph(), tmp_path)
    assert browser.run("document.title") == NASTY
    browser.click_on("[data-name='y'] .main")
    assert NASTY in details(browser)
    browser.run("(s => {s.value = 'img'; s.dispatchEvent(new Event('input'))})(search)")
    browser.frame()
    assert browser.run(
        "[document.querySelectorAll('img, b, i:not(#legend i)').length, document.scripts.length]"
    ) == [0, 2]
    assert browser.run("document.title") == NASTY


@needs_browser
@pytest.mark.parametrize("has_modules", [True, False])
def test_5000_calls(browser: Browser, tmp_path: Path, has_modules: bool) -> None:
    shown(browser, large_graph(5000, has_modules), tmp_path)
    count = "document.querySelectorAll('#world *').length"
    assert browser.run(count) < 2000
    browser.click_on("#expand")
    assert browser.run("scene.boxes.length") == 5002
    assert browser.run(count) < 2000  # all boxes, far away: one path for each color
    browser.run("(s => {s.value = 'relu_4321'; s.dispatchEvent(new Event('input'))})(search)")
    browser.click_on("#search")
    browser.key("Enter")
    assert "net.py:4321" in details(browser)
    assert "relu_4321" in names(browser)
    assert browser.run(count) < 2000
    # a step of a pan, from the event to the drawn frame, without the browser's own painting
    step = "(() => {const t = performance.now(); view.y += 50; draw(); return performance.now() - t})()"
    times = sorted(browser.run(step) for _ in range(9))
    assert times[4] < 100

"""The builder of graphs: names, tied variables, bodies, and calls that nothing uses."""

from __future__ import annotations

from types import SimpleNamespace

import IPython
import numpy as np
import pytest
from IPython.core.compilerop import CachingCompiler

import nestarray as na
from nestarray.graph.builder import GraphBuilder, Place, aval_of, line_name

X = np.ones(3, "float32")


def test_a_graph_of_one_call() -> None:
    builder = GraphBuilder("Scale", "numpy")
    x = builder.argument("x", aval_of(X))
    builder.sign(lambda x: x, [x], {})
    w = builder.variable("v", "layer/w", X * 2)
    c = builder.variable("constants", "unused", X)
    builder.call("dead", na.add, "na.add", (x, c), aval=x.aval)
    y = builder.call(
        "y", na.multiply, "na.multiply", (x, w), aval=x.aval, place=Place("layer", "a.py:1")
    )
    graph = builder.finish({"out": y})
    assert [node.name for node in graph.calls] == ["y"]
    assert (graph.calls[0].module, graph.calls[0].line) == ("layer", "a.py:1")
    assert graph.v.paths() == ("layer/w",)
    assert not graph.constants.paths()
    np.testing.assert_array_equal(graph(X)["out"], X * 2)


def test_tied_variables_share_a_node() -> None:
    builder = GraphBuilder("Tied", "numpy")
    first = builder.variable("v", "w", X)
    assert builder.variable("v", "w", X) is first
    assert builder.variable("s", "w", X) is not first
    assert len(builder.nodes) == 2


def test_names_are_unique_identifiers() -> None:
    builder = GraphBuilder("Names", "numpy")
    names = [builder.call(name, na.exp, "na.exp").name for name in ("a.b", "a.b", "for", "0")]
    assert names == ["a_b", "a_b_1", "for_1", "_0"]


def test_a_body_keeps_the_calls_that_it_uses() -> None:
    builder = GraphBuilder("Body", "numpy")
    aval = aval_of(X)
    with builder.body("step", {"i": aval, "carry": [aval, aval]}) as body:
        i, (a, b) = body.parameters
        builder.call("dead", na.add, "na.add", (a, i))
        pair = builder.call("pair", na.split, "na.split", (b, 1))
        body.output = builder.item(pair, 0, aval=aval), a
    assert body.names == ("i", "carry")
    assert [node.name for node in body.nodes] == ["pair", "pair_0"]
    assert body.name == "step"
    assert not builder.nodes
    assert {a, b, i, *body.nodes} <= builder.ended


def test_a_line_of_a_notebook_is_named_by_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = CachingCompiler()
    cell = compiler.cache("x = 1", number=3)
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(compile=compiler))
    assert line_name(cell, 12) == "In[3]:12"
    assert line_name("/net/model.py", 12) == "model.py:12"
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert line_name("/net/model.py", 12) == "model.py:12"

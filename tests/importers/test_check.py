"""`na.check`: what becomes of each operation, found before anything is converted."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from nestarray.importers.torch import coverage
from tests.graph.networks import ConvNet, DataDependent, WithoutFrontend


class Mixed(nn.Module):
    """A function, and an operation that nobody has in two places."""

    def __init__(self):
        super().__init__()
        self.first, self.second = WithoutFrontend(), WithoutFrontend()

    def forward(self, x):
        return self.second(self.first(torch.relu(x)))


def by_name(report):
    return {op.name: op for op in report.operations}


@pytest.mark.parametrize("target", ["numpy", "jax", "torch", "tensorflow"])
def test_a_network_that_can_be_converted(target):
    report = na.check(ConvNet(), torch.randn(2, 1, 8, 8), target=target, train=True)
    assert report.ok
    assert report.raise_if_failed() is report
    found = by_name(report)
    linear = found["aten.linear.default"]
    assert (linear.status, linear.count) == ("function", 1)
    assert linear.becomes == "torch.nn.functional.linear"
    assert linear.places[0][0] == "fc"
    assert re.fullmatch(r"linear\.py:\d+", linear.places[0][1])
    assert "random numbers are drawn by 1 call: pass key=" in report.notes
    assert (
        "state is written: norm/running_mean, norm/running_var, norm/num_batches_tracked"
        in report.notes
    )
    assert any(note.startswith("int64 is int32 on jax") for note in report.notes) == (
        target == "jax"
    )
    text = str(report)
    assert text.startswith(f"ConvNet to {target} (train): can be converted\n")
    assert re.search(r"aten\.conv2d\.default +1 +function +torch\.conv2d +module 'conv', ", text)


def test_missing_operations_are_all_listed_with_their_places():
    report = na.check(Mixed(), torch.ones(2), target="jax")
    assert not report.ok
    (op,) = report.missing
    assert op.name == "nestarray_tests.cubed.default"
    assert [path for path, _ in op.places] == ["first", "second"]
    assert op.reason == ("there is no function of that name; islands=True would run it in torch")
    assert report.operations[0] is op
    assert "calls were not tried on the target, because of what is missing" in report.notes
    with pytest.raises(errors.MissingOpError, match="Mixed uses 1 operation") as caught:
        report.raise_if_failed()
    with pytest.raises(errors.MissingOpError) as traced:
        na.trace_graph(Mixed(), torch.ones(2))
    assert str(caught.value) == str(traced.value)
    assert "(module 'first', networks.py:" in str(caught.value)
    assert "; module 'second', networks.py:" in str(caught.value)

    report = na.check(Mixed(), torch.ones(2), target="jax", islands=True)
    assert report.ok
    assert by_name(report)[op.name].status == "island"


def test_of_a_function_of_torch_tensors_too():
    def fn(x):
        return WithoutFrontend()(torch.relu(x))

    report = na.check(fn, torch.ones(2), target="numpy")
    assert [op.name for op in report.missing] == ["nestarray_tests.cubed.default"]
    assert na.check(fn, torch.ones(2), target="numpy", islands=True).ok


def test_what_torch_decomposes(monkeypatch):
    from nestarray.frontends.torch import vocabulary

    find = vocabulary.find
    monkeypatch.setattr(
        vocabulary,
        "find",
        lambda op, *args, **kwargs: None if "hardswish" in str(op) else find(op, *args, **kwargs),
    )
    net, x = nn.Hardswish(), torch.randn(5)
    op = by_name(na.check(net, x, target="jax"))["aten.hardswish.default"]
    assert op.status == "decomposed"
    assert op.becomes == "torch.add, torch.clamp, torch.mul, torch.div"
    assert na.trace_graph(net, x).to_backend("numpy").verify().ok


def test_a_decomposition_into_what_is_missing_too_is_not_used(monkeypatch):
    from nestarray.frontends.torch import vocabulary

    find = vocabulary.find
    table, lacking = coverage._decompositions(), ("hardswish", "clamp")
    monkeypatch.setattr(
        vocabulary,
        "find",
        lambda op, *args, **kwargs: (
            None if any(name in str(op) for name in lacking) else find(op, *args, **kwargs)
        ),
    )
    monkeypatch.setattr(
        coverage,
        "_decompositions",
        lambda: {k: f for k, f in table.items() if "clamp" not in str(k)},
    )
    report = na.check(nn.Hardswish(), torch.randn(5), target="jax")
    assert [op.name for op in report.missing] == ["aten.hardswish.default"]


def test_an_argument_that_the_function_does_not_take_is_missing_too(monkeypatch):
    from nestarray.frontends.torch import vocabulary

    def refusing(self, named, *args):
        if "alpha" in named:
            raise errors.MissingOpError(f"{self.operation}: alpha: add does not take it")
        return call(self, named, *args)

    call = vocabulary.Rule.call
    monkeypatch.setattr(vocabulary.Rule, "call", refusing)

    class Scaled(nn.Module):
        def forward(self, x):
            return torch.add(x, x, alpha=2)

    report = na.check(Scaled(), torch.ones(2), target="numpy")
    (op,) = report.missing
    assert op.reason.startswith("alpha: add does not take it; ")


class Wide(nn.Module):
    """dtypes that some frameworks lack."""

    def forward(self, x):
        return x.double(), x.to(torch.complex32).real


def test_dtypes_that_the_target_lacks():
    report = na.check(Wide(), torch.ones(2), target="jax")
    assert not report.ok
    found = {problem.what: problem for problem in report.problems}
    assert found["dtype float64"].reason.startswith(
        "jax computes in 32 bits and has no float64 now"
    )
    assert re.fullmatch(r"test_check\.py:\d+", found["dtype float64"].where)
    assert "dtype complex32" in found
    (op,) = report.missing
    assert (op.name, op.count) == ("aten._to_copy.default", 1)
    assert op.reason == (
        "torch.complex32 is none of nestarray's dtypes; no island: nestarray has no torch.complex32"
    )
    assert "dtype float64" not in str(na.check(Wide(), torch.ones(2), target="numpy"))
    report = na.check(nn.ReLU(), torch.ones(2, dtype=torch.float64), target="jax")
    with pytest.raises(errors.ConversionError, match=r"ReLU to jax \(eval\): CANNOT be converted"):
        report.raise_if_failed()


def test_calls_that_the_target_refuses_are_all_found():
    def fn(x, y):
        a = na.unique_values(y)
        b = na.nonzero(x)[0]
        return na.sum(a), na.exp(y), na.sum(b)

    x, y = np.ones(3, "bool"), np.ones(3, "float32")
    assert na.check(fn, x, y, target="numpy").ok
    assert na.check(fn, x, y, target="tensorflow").ok
    for target, reason in (("jax", "ConcretizationTypeError"), ("torch", "DynamicOutputShape")):
        report = na.check(fn, x, y, target=target)
        found = [problem.what.partition(" = ")[0] for problem in report.problems]
        assert found == ["unique_values", "nonzero"]
        assert reason in report.problems[0].reason
        assert "(test_check.py:" in report.problems[0].what


def test_nothing_is_moved(monkeypatch):
    from nestarray.ops import conversion, data_type

    net = ConvNet()
    before = {name: x.clone() for name, x in net.state_dict().items()}
    monkeypatch.setattr(conversion, "move", None)
    monkeypatch.setattr(data_type, "move", None)
    assert na.check(net, torch.randn(2, 1, 8, 8), target="tensorflow").ok
    assert all(torch.equal(x, before[name]) for name, x in net.state_dict().items())


def test_as_json_and_html():
    report = na.check(Mixed(), torch.ones(2), target="jax")
    found = json.loads(report.to_json())
    assert found["ok"] is False
    assert found["operations"][0]["status"] == "missing"
    assert found["operations"][0]["places"][0]["module"] == "first"
    html = report._repr_html_()
    assert html.count("<details") == html.count("</details>") == 2
    assert "CANNOT be converted" in html
    net = nn.Sequential()
    net.add_module("<b>", nn.ReLU())
    html = na.check(net, torch.ones(2), target="numpy")._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_sources_that_cannot_be_traced_are_reported():
    report = na.check(DataDependent(), torch.ones(2), target="jax")
    assert (report.ok, report.name, report.framework) == (False, "DataDependent", "")
    (problem,) = report.problems
    assert problem.what == "source"
    assert "torch.export cannot export DataDependent" in problem.reason
    assert "torch.export cannot export DataDependent" in report._repr_html_()
    with pytest.raises(errors.ConversionError, match=r"torch\.export cannot export"):
        report.raise_if_failed()


def test_unknown_targets():
    with pytest.raises(errors.ArgumentError, match="mxnet"):
        na.check(nn.ReLU(), torch.ones(2), target="mxnet")

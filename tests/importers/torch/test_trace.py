"""Graphs of torch modules: calling, moving, printing, pickling, errors."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.networks import ConvNet, DataDependent, Nested, Tied, WithoutFrontend

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


@pytest.fixture(scope="module")
def convnet() -> ConvNet:
    torch.manual_seed(0)
    net = ConvNet()
    net(torch.randn(8, 1, 8, 8))  # running statistics away from their initial values
    return net


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return torch.randn(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def graph(convnet, images):
    return na.trace_graph(convnet, images)


@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_agree_with_the_module(graph, convnet, images, backend):
    got = graph.to_backend(backend)(na.to_backend(images, backend))
    assert na.backend_of(got) == backend
    with torch.no_grad():
        expected = copy.deepcopy(convnet).eval()(images).numpy()
    np.testing.assert_allclose(na.to_backend(got, "numpy"), expected, rtol=1e-5, atol=1e-6)


def test_tracing_leaves_the_module_as_it_was(convnet, images):
    convnet.train()
    convnet.norm.eval()
    before = {k: x.clone() for k, x in convnet.state_dict().items()}
    na.trace_graph(convnet, images, train=True)
    assert convnet.training
    assert not convnet.norm.training
    for name, tensor in convnet.state_dict().items():
        assert torch.equal(tensor, before[name]), name
    convnet.train()


def test_variables_are_containers_by_module_path(graph, convnet):
    assert graph.v.paths() == (
        "conv/weight", "conv/bias", "norm/weight", "norm/bias", "fc/weight", "fc/bias",
    )  # fmt: skip
    assert graph.s.paths() == (
        "norm/running_mean", "norm/running_var", "norm/num_batches_tracked",
    )  # fmt: skip
    assert graph.v["conv/weight"].data_ptr() == convnet.conv.weight.data_ptr()


def test_a_graph_is_a_function_of_v(graph, images):
    x = na.to_backend(images, "jax")
    moved = graph.to_backend("jax")
    zeros = moved.v * 0.0
    assert float(na.max(na.abs(moved(x, v=zeros)))) == 0.0
    assert float(na.max(na.abs(moved(x)))) > 0.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_training_returns_new_state_and_takes_a_key(convnet, images, backend):
    graph = na.trace_graph(convnet, images, train=True).to_backend(backend)
    with na.use_backend(backend):
        key, other = na.random.key(3), na.random.key(4)
    x = na.to_backend(images, backend)
    out, s = graph(x, key=key)
    again, _ = graph(x, key=key)
    different, _ = graph(x, key=other)
    host = lambda a: np.asarray(na.to_backend(a, "numpy"))  # noqa: E731
    np.testing.assert_array_equal(host(out), host(again))
    assert np.abs(host(out) - host(different)).max() > 1e-3

    module = copy.deepcopy(convnet).train()
    module(images)
    for name in ("running_mean", "running_var"):
        expected = getattr(module.norm, name).numpy()
        np.testing.assert_allclose(host(s[f"norm/{name}"]), expected, rtol=1e-5, atol=1e-6)
    assert np.abs(host(s["norm/running_mean"]) - host(graph.s["norm/running_mean"])).max() > 1e-4


def test_keyword_and_nested_inputs_and_dictionary_outputs():
    net = Nested()
    x, a, b = torch.randn(4, 3), torch.randn(4, 2), torch.randn(2)
    graph = na.trace_graph(net, x, extra={"a": a, "b": [b]}, scale=3.0)
    expected = net(x, extra={"a": a, "b": [b]}, scale=3.0)
    move = lambda t: na.to_backend(t, "numpy")  # noqa: E731
    extra = {"b": [move(b)], "a": move(a)}
    out = graph.to_backend("numpy")(move(x), extra=extra, scale=3.0)
    np.testing.assert_allclose(out["y"], expected["y"].detach(), rtol=1e-6)
    np.testing.assert_allclose(out["pair"][0], expected["pair"][0].detach(), rtol=1e-6)
    assert out["size"] == 3
    by_name = graph.to_backend("numpy")(x=move(x), extra=extra)
    np.testing.assert_array_equal(by_name["y"], out["y"])


def test_tied_weights_are_one_variable_and_their_gradients_add():
    net, ids = Tied(), torch.tensor([[0, 4, 2]])
    graph = na.trace_graph(net, ids)
    assert graph.v.paths() == ("embed/weight",)
    report = graph.to_backend("jax").verify()
    assert report.ok, str(report)


def test_a_graph_prints_as_python_that_runs(graph, images):
    text = str(graph)
    assert "conv2d = torch.conv2d(x, v['conv/weight'], v['conv/bias'], " in text
    assert re.search(r"# float32\[2, 4, 8, 8\] · conv$", text, re.M)
    namespace: dict = {}
    exec(text, namespace)
    moved = graph.to_backend("numpy")
    x = na.to_backend(images, "numpy")
    out = namespace["graph"](x, v=moved.v, s=moved.s, constants=moved.constants)
    np.testing.assert_array_equal(out, moved(x))


def _branch(x):
    return torch.cond(x.sum() > 0, lambda x: x + torch.ones(3), lambda x: x - torch.ones(3), (x,))


@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
@pytest.mark.parametrize(
    "source",
    [
        torch.nn.GRUCell(3, 3),
        torch.nn.LSTM(3, 3),
        lambda x: x + torch.arange(3) * torch.zeros(4, 3) + torch.eye(4, 3),
        lambda x: x[: x.shape[0] - 1] + torch.arange(x.shape[0] - 1)[:, None],
        lambda x: x * torch.full((4, 3), complex(2, torch.inf)).imag,
        _branch,
    ],
    ids=["gru", "lstm", "creation", "sizes", "complex", "branch"],
)
def test_a_printed_program_is_complete(source, backend):
    x = torch.arange(12.0).reshape(4, 3) + 1
    x = x[:, None] if isinstance(source, torch.nn.LSTM) else x
    graph = na.trace_graph(source, x).to_backend(backend)
    x = na.to_backend(x, backend)
    for one in (graph, graph.lower()):
        namespace: dict = {}
        exec(one.to_source(), namespace)
        out = namespace["graph"](x, v=one.v, s=one.s, constants=one.constants)
        for got, expected in zip(na.tree.leaves(out), na.tree.leaves(graph(x)), strict=True):
            assert type(got) is type(expected)
            np.testing.assert_allclose(*(na.to_backend(y, "numpy") for y in (got, expected)))


def test_only_programs_that_create_arrays_name_their_backend():
    x = torch.ones(4, 3)
    bound = na.trace_graph(lambda x: x + torch.arange(x.shape[1]), x).to_backend("jax")
    assert "@na.use_backend('jax')\ndef graph(" in bound.to_source()
    free = na.trace_graph(lambda x: torch.stack(x.unbind(1)) * x.shape[0], x).to_backend("jax")
    assert "use_backend" not in free.to_source()


def test_a_graph_pickles_without_its_source(graph, images):
    moved = graph.to_backend("numpy")
    loaded = pickle.loads(pickle.dumps(moved))
    x = na.to_backend(images, "numpy")
    np.testing.assert_array_equal(loaded(x), moved(x))
    with pytest.raises(
        errors.ConversionError, match="has no source to compare with; trace it again"
    ):
        loaded.verify()


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "numpy", "torch"])
def test_compiled_equals_eager(graph, images, backend):
    moved = graph.to_backend(backend)
    x = na.to_backend(images, backend)
    # torch's default compiler needs a C++ compiler
    compiled = moved.compile(**({"backend": "aot_eager"} if backend == "torch" else {}))
    host = lambda a: np.asarray(na.to_backend(a, "numpy"))  # noqa: E731
    np.testing.assert_allclose(host(compiled(x)), host(moved(x)), rtol=1e-5, atol=1e-6)
    zeros = compiled(x, v=moved.v * 0.0)
    assert np.abs(host(zeros)).max() == 0.0


# -- bad input ------------------------------------------------------------------------------


def test_a_model_that_torch_cannot_export():
    with pytest.raises(errors.ConversionError) as caught:
        na.trace_graph(DataDependent(), torch.ones(2))
    assert re.fullmatch(
        r"trace_graph: torch\.export cannot export DataDependent: GuardOnDataDependentSymNode: a "
        r"choice by a value: if x\.sum\(\) > 0: \(networks\.py:\d+\)\. Write it with torch\.where, or "
        r"with torch\.cond where one side alone may run; float\(x\) of an array is x itself; what is "
        r"always so is said with torch\._check\. A check, an assert or an if that only raises or prints, "
        r"is dropped by itself",
        str(caught.value),
    )


def test_a_number_that_a_value_decides_is_named_with_its_line():
    class Repeated(nn.Module):
        def forward(self, x, count):
            for _ in range(int(count)):
                x = x * 2
            return x

    text = (
        r"a number that a value decides: for _ in range\(int\(count\)\): \(test_trace\.py:\d+\)\. "
        r"x\.item\(\) of an integer may be a size as it is, without int\(\); else pass the number as an "
        r"int, which a graph keeps as it is traced \(num_classes= of one_hot\); a loop of as many steps "
        r"is torch\.while_loop$"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Repeated(), torch.ones(2), torch.tensor(3))
    assert na.trace_graph(Repeated(), torch.ones(2), 3)(torch.ones(2), 3).tolist() == [8.0, 8.0]


def test_an_example_that_the_source_does_not_take():
    net, x = nn.Linear(2, 3), torch.ones(4, 2)
    text = (
        r"^trace_graph: the example does not fit Linear\(input: torch\.Tensor\): %s; give its "
        r"arguments after the source, as in a call$"
    )
    with pytest.raises(errors.ArgumentError, match=text % "missing a required argument: 'input'"):
        na.trace_graph(net)
    with pytest.raises(errors.ArgumentError, match=text % "too many positional arguments"):
        na.trace_graph(net, x, x)
    with pytest.raises(errors.ArgumentError, match=r"the example does not fit <lambda>\(x, y\): "):
        na.trace_graph(lambda x, y: torch.sin(x) + y, x)


@pytest.mark.parametrize(
    ("leaf", "error", "text"),
    [
        (None, errors.ArgumentError, "got NoneType, expected an array of numpy; move all of them with "
         'v.to_backend("numpy")'),
        (torch.ones(3, 2), errors.ArgumentError, "got an array of torch, expected an array of numpy; "
         'move all of them with v.to_backend("numpy")'),
        (np.ones((3, 5), "float32"), errors.ShapeError,
         "got shape (3, 5), the graph was traced with (3, 2)"),
    ],
    ids=["none", "framework", "shape"],
)  # fmt: skip
def test_a_call_that_fails_by_a_weight_names_the_weight(leaf, error, text):
    graph = na.trace_graph(nn.Sequential(nn.Linear(2, 3)), torch.ones(4, 2)).to_backend("numpy")
    x = np.ones((4, 2), "float32")
    with pytest.raises(error) as caught:
        graph(x, v=graph.v.set("0/weight", leaf))
    assert str(caught.value) == f"Sequential: v['0/weight']: {text}"


def test_a_class_in_place_of_a_module():
    text = (
        r"^trace_graph: source: got the class Linear, expected an instance of it: Linear\(\.\.\.\)$"
    )
    with pytest.raises(errors.ArgumentError, match=text):
        na.trace_graph(nn.Linear, torch.ones(4, 2))


_AGAIN = r"See whether the call works by itself: net\(\*args, \*\*kwargs\)"
_UNKNOWN = "not known while a module is traced"


@pytest.mark.parametrize(
    ("forward", "text"),
    [
        (lambda x: x @ torch.ones(4, 4), rf"RuntimeError: .*, at .*torch\.ones.*\. {_AGAIN}$"),
        (lambda x: x + nothing, rf"NameError: name 'nothing' .*, at .*\. {_AGAIN}$"),  # noqa: F821
        (
            lambda x: np.tanh(x),
            rf", at .*np\.tanh.*\. NumPy cannot compute on values .* {_UNKNOWN}",
        ),
        (lambda x: x * len(f"{x.mean():.2f}"), rf", at .*mean.*\. A value is {_UNKNOWN}"),
        (
            lambda x: x * float(x.max()),
            r"a choice by a value: .*float\(x\) of an array is x itself",
        ),
    ],
    ids=["shapes", "name", "numpy", "text", "float"],
)
def test_a_call_that_cannot_be_traced_is_told_with_its_line(forward, text):
    class Net(nn.Module):
        def forward(self, x):
            return forward(x)

    with pytest.raises(errors.ConversionError, match=text) as caught:
        na.trace_graph(Net(), torch.ones(4, 3))
    assert re.search(r"\(test_trace\.py:\d+\)", str(caught.value))


def test_a_layer_that_fails_without_the_exporter_too():
    text = rf"RuntimeError: a and b .*, at return F\.linear.* \(linear\.py:\d+\)\. {_AGAIN}$"
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(nn.Linear(2, 3), torch.ones(4, 3))


def test_a_bool_that_values_decide():
    class Compared(nn.Module):
        def forward(self, x):
            return x * torch.ops.aten.equal(x, x + 0)

    text = (
        r"a number or a bool that values decide: return x \* torch\.ops\.aten\.equal\(x, x \+ 0\) "
        r"\(test_trace\.py:\d+\)\. Stay with arrays: torch\.all\(x == y\) in place of "
        r"torch\.ops\.aten\.equal\(x, y\)$"
    )
    with pytest.raises(errors.ConversionError, match=text):
        na.trace_graph(Compared(), torch.ones(2))


def test_a_check_of_values_may_be_left_out_while_tracing():
    class Checked(nn.Module):
        def forward(self, x):
            if not torch.compiler.is_compiling() and x.isnan().any():
                raise ValueError
            return x * 2

    assert na.trace_graph(Checked(), torch.ones(2))(torch.ones(2)).tolist() == [2.0, 2.0]


def test_an_op_without_a_frontend_is_named_with_its_line():
    with pytest.raises(errors.MissingOpError) as caught:
        na.trace_graph(nn.Sequential(nn.Linear(2, 2), WithoutFrontend()), torch.ones(1, 2))
    message = str(caught.value)
    assert "uses 1 operation(s) that nestarray.frontends.torch does not have" in message
    assert re.search(r"nestarray_tests.cubed.default \(module '1', networks\.py:\d+\): ", message)
    assert "there is no function of that name; islands=True would run it in torch" in message


def test_not_a_module():
    with pytest.raises(
        errors.ArgumentError, match=r"trace_graph: source: got int, expected a torch\.nn\.Module"
    ):
        na.trace_graph(3, torch.ones(2))


def test_input_errors(graph, images):
    moved = graph.to_backend("jax")
    x = na.to_backend(images, "jax")
    with pytest.raises(
        errors.ArgumentError,
        match=r"argument 'x': got an array of torch, expected an array of jax; move it with na\.to_backend\(x, \"jax\"\)",
    ):
        moved(images)
    with pytest.raises(
        errors.ShapeError,
        match=r"argument 'x': got shape \(1, 1, 8, 8\), the graph was traced with \(2, 1, 8, 8\)",
    ):
        moved(x[:1])
    with pytest.raises(
        errors.DtypeError,
        match=r"argument 'x': got float16, the graph was traced with float32; cast it",
    ):
        moved(x.astype("float16"))
    with pytest.raises(errors.ArgumentError, match="argument 'x' is missing"):
        moved()
    with pytest.raises(errors.ArgumentError, match=r"got 2 positional arguments, expected 1 \(x\)"):
        moved(x, x)
    by_name = na.trace_graph(nn.Linear(2, 2), input=torch.ones(1, 2))
    with pytest.raises(
        errors.ArgumentError,
        match="got 1 positional arguments, expected 0; give input=… by name, as in the example",
    ):
        by_name(torch.ones(1, 2))
    with pytest.raises(
        errors.ArgumentError, match="got an unexpected argument 'mask'; it was traced with x"
    ):
        moved(x, mask=x)
    with pytest.raises(
        errors.StructureError, match=r"v has no 'fc/bias'; expected the keys of graph\.v"
    ):
        moved(x, v=moved.v.delete("fc/bias"))
    with pytest.raises(errors.ArgumentError, match="v: got dict, expected a Container"):
        moved(x, v={})


def test_a_traced_constant_cannot_change():
    graph = na.trace_graph(Nested(), torch.ones(4, 3), scale=2.0)
    with pytest.raises(
        errors.ArgumentError, match=r"argument 'scale': got 3.0, but the graph was traced with 2.0"
    ):
        graph(torch.ones(4, 3), scale=3.0)


def test_a_training_graph_asks_for_its_key(convnet, images):
    graph = na.trace_graph(convnet, images, train=True)
    with pytest.raises(errors.ArgumentError, match=r"pass key=na\.random\.key\(0\)"):
        graph(images)
    with pytest.raises(
        errors.ArgumentError, match=r"key: got an array of numpy, expected one of torch"
    ):
        graph(images, key=na.random.key(0, backend="numpy"))


def _of_setting(name):
    """A module whose forward takes an argument of the given name."""
    namespace = {"torch": torch}
    exec(f"def forward(self, x, {name}):\n    return x - {name}", namespace)
    return type("Net", (torch.nn.Module,), {"forward": namespace["forward"]})()


@pytest.mark.parametrize(
    "name", ["v", "s", "key", "train", "dynamic", "islands", "target", "source", "net", "graph"]
)
def test_arguments_may_have_the_names_of_settings(name):
    net, x, other = _of_setting(name), torch.ones(3), torch.arange(3.0)
    expected = net(x, other)
    graph = na.trace_graph(net, x, other)
    by_position, by_name = (other,), {f"{name}_": other}
    for call in (graph, graph.lower(), graph.compile(), na.to_module(net, x, other)):
        for args, kwargs in ((by_position, {}), ((), by_name)):
            assert torch.equal(call(x, *args, **kwargs), expected)
    named = na.trace_graph(net, x, **by_name)
    assert torch.equal(named(x, **by_name), expected)
    assert named.verify().ok
    assert named.verify(2 * x, **by_name).ok
    assert na.check(net, x, **by_name, target="numpy").ok


def test_arguments_that_end_in_an_underscore():
    def function(x, key, key_):
        return x + 2 * key - key_

    x = torch.ones(3)
    graph = na.trace_graph(function, x, 2 * x, 3 * x)
    assert torch.equal(graph(x, 2 * x, key_=3 * x), function(x, 2 * x, 3 * x))
    with pytest.raises(errors.ArgumentError, match=r"argument 'key' is missing; pass it as key_="):
        na.trace_graph(lambda x, key: x + key, x, x)(x)


def test_a_missing_argument_with_the_name_of_a_setting():
    with pytest.raises(errors.ArgumentError, match=r"as in a call, and 'train' as train_="):
        na.trace_graph(_of_setting("train"), torch.ones(3), train=True)


def test_a_tensor_that_occurs_twice_in_the_example_is_two_arguments() -> None:
    torch.manual_seed(0)
    net, x = nn.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 3, 4)
    graph = na.trace_graph(net, x, x, value=x)
    query, key, value = torch.randn(3, 2, 3, 4)
    out, weights = graph(query, key, value=value)
    want, want_weights = net(query, key, value)
    torch.testing.assert_close(out, want)
    torch.testing.assert_close(weights, want_weights)
    nested = na.trace_graph(lambda pair: pair[0] - torch.abs(pair[1]), [x, x])
    torch.testing.assert_close(nested([query, key]), query - key.abs())

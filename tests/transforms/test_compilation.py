"""`jit`: the results of the plain call, one trace for each structure and shape."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors
from nestarray.testing import assert_close
from tests.transforms.test_gradients import loss, variables

#: torch's own compiler takes seconds for a kernel; only its tracing is tested here.
OPTIONS: dict[str, dict[str, Any]] = {"torch": {"backend": "aot_eager"}}


def jit(fn: Any, backend: str) -> Any:
    return na.jit(fn, **OPTIONS.get(backend, {}))


def several(c: na.Container, x: Any) -> Any:
    """Several ops over a Container."""
    d = na.exp(c) + x * 2.0
    return na.multiply(na.add(d, c), 2.0), na.concat([c.a, x])


def small(backend: str) -> tuple[na.Container, Any]:
    x = na.to_backend(np.asarray([1.0, -2.0], np.float32), backend)
    return na.Container(a=x, b={"c": x + 1.0}), x


def test_it_is_the_plain_call(backend: str) -> None:
    c, x = small(backend)
    compiled = jit(several, backend)
    for _ in range(2):
        first, second = compiled(c, x)
        assert_close(first, several(c, x)[0])
        assert_close(second, several(c, x)[1])
        assert first.spec is c.spec


def test_one_array_for_two_arguments_is_two_arguments_later(backend: str) -> None:
    x = na.to_backend(np.ones(2, np.float32), backend)
    compiled = jit(lambda c: c["a"] - 2.0 * c["b"], backend)
    assert_close(compiled(na.Container(a=x, b=x)), -x)
    assert_close(compiled(na.Container(a=3.0 * x, b=x)), x)


def test_one_trace_for_each_structure_and_shape(backend: str) -> None:
    if backend == "numpy":
        return  # runs the function itself each time
    calls: list[int] = []

    def fn(c: na.Container) -> Any:
        calls.append(1)
        return na.negative(c)

    compiled = jit(fn, backend)
    c, x = small(backend)
    for argument, traces in (
        (c, 1),
        (c * 2.0, 1),
        (na.Container(a=x), 2),
        (na.Container(a=na.concat([x, x])), 3),
        (c, 3),
    ):
        assert_close(compiled(argument), na.negative(argument))
        assert len(calls) == traces


def test_what_is_no_array_stays(backend: str) -> None:
    c, x = small(backend)

    def fn(x: Any, nest: Any) -> Any:
        return {"out": [x * 2.0, nest["c"]], "numbers": (3, 2.5, True, 1j), "none": None}

    found = jit(fn, backend)(x, {"c": c})
    assert_close(found["out"][0], x * 2.0)
    assert_close(found["out"][1], c)
    assert [type(number) for number in found["numbers"]] == [int, float, bool, complex]
    assert found["numbers"] == (3, 2.5, True, 1j)
    assert found["none"] is None


def test_text_is_a_constant_of_the_trace(backend: str) -> None:
    _, x = small(backend)
    c = na.Container(x=x, kind="double", note=b"")

    def fn(c: na.Container, mode: str) -> Any:
        return c.set("x", c.x * 2.0 if c.kind == "double" else c.x), [mode, "new"]

    compiled = jit(fn, backend)
    for kind, mode, traces in (("double", "a", 1), ("same", "a", 2), ("double", "b", 3)):
        for _ in range(2):
            result, text = compiled(c.set("kind", kind), mode)
            assert_close(result.x, x * 2.0 if kind == "double" else x)
            assert (result.kind, result.note, text) == (kind, b"", [mode, "new"])
        assert compiled.traces == (0 if backend == "numpy" else traces)
    assert jit(lambda x: (x, "text"), backend)(x)[1] == "text"
    with pytest.raises(TypeError, match="of the function"):
        jit(_failing, backend)(x, "text")


def _failing(x: Any, text: str) -> Any:
    raise TypeError(f"{text} of the function")


@pytest.mark.parametrize("name", ["torch", "tensorflow"])
def test_settings_are_constants_of_the_trace(name: str) -> None:
    _, x = small(name)
    compiled = jit(lambda x, *, power, kind: x**power if kind == "power" else x, name)
    assert_close(compiled(x, power=2, kind="power"), x * x)
    assert_close(compiled(x, power=3, kind="power"), x * x * x)
    assert_close(compiled(x, power=3, kind="same"), x)


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
class TestGradients:
    def test_of_a_compiled_function(self, name: str) -> None:
        v = variables(name)
        assert_close(na.grad(jit(loss, name))(v), na.grad(loss)(v))

    def test_compiled(self, name: str) -> None:
        v = variables(name)
        value, gradients = jit(na.value_and_grad(loss), name)(v)
        assert_close(value, loss(v))
        assert_close(gradients, na.grad(loss)(v))

    def test_of_compiled_gradients(self, name: str) -> None:
        v = variables(name)

        def outer(inner: Any) -> Any:
            return lambda v: na.tree_sum(inner(v) ** 2)

        expected = na.grad(outer(na.grad(loss)))(v)
        assert_close(na.grad(outer(jit(na.grad(loss), name)))(v), expected)
        assert_close(na.grad(outer(na.grad(jit(loss, name))))(v), expected)
        assert_close(jit(na.grad(outer(jit(na.grad(loss), name))), name)(v), expected)


def test_a_trace_with_gradients_is_another_one_in_torch() -> None:
    compiled = jit(na.grad(lambda x: na.sum(x**3)), "torch")
    x = torch.tensor([2.0])
    assert not compiled(x).requires_grad
    x = x.requires_grad_()
    (second,) = torch.autograd.grad(compiled(x).sum(), x)
    assert second.item() == pytest.approx(12.0)


def test_inside_of_vmap() -> None:
    xs = torch.linspace(-1, 1, 6).reshape(3, 2)
    fn = jit(na.grad(lambda c: na.sum(c.a**3)), "torch")
    found = torch.func.vmap(lambda x: fn(na.Container(a=x)).a)(xs)
    assert_close(found, 3 * xs**2)


COMPILED_BY_TORCH = """
import torch
import nestarray as na
from nestarray import errors
from nestarray.testing import assert_close

def arrays(c):
    return na.tanh(na.add(na.exp(c.a), na.multiply(c.a, 2.0)))

def containers(c):
    return na.multiply(na.add(na.exp(c), na.multiply(c, c.a)), 2.0) + c

def gradients(c):
    return na.value_and_grad(lambda v: na.sum(na.exp(v.a) * v.b.c))(c)

x = torch.linspace(0, 1, 4)
c = na.Container(a=x, b={"c": x + 1.0})
for fn in (arrays, containers, gradients):
    expected = fn(c)  # the tables of the ops are warm from here on
    assert_close(torch.compile(fn, fullgraph=True, backend="eager")(c), expected)
"""


@pytest.mark.full
def test_torchs_own_compiler_without_a_graph_break() -> None:
    """In a new process: Dynamo cannot hash the dtypes of other frameworks."""
    subprocess.run([sys.executable, "-c", COMPILED_BY_TORCH], check=True, timeout=120)


def test_as_a_method(backend: str) -> None:
    class Scale:
        factor = 3.0

        @na.jit
        def plain(self, x: Any) -> Any:
            return x * self.factor

    if backend in ("numpy", "tensorflow"):
        _, x = small(backend)
        assert_close(Scale().plain(x), x * 3.0)
        assert_close(Scale.plain(Scale(), x), x * 3.0)


def test_what_functions_keep_of_themselves_stays_theirs(backend: str) -> None:
    """Wrappers carry the attributes of their functions, and a rule of derivatives has some."""
    cube = na.custom_vjp(lambda x: x * x * x)
    cube.defvjp(lambda x: (x * x * x, x), lambda x, ct: (3.0 * x * x * ct,))
    x = na.to_backend(np.asarray(2.0, np.float32), backend)
    assert float(jit(na.grad(cube), backend)(x)) == 12.0
    again = na.custom_vjp(na.grad(cube))
    again.defvjp(lambda x: (na.grad(cube)(x), x), lambda x, ct: (7.0 * ct,))
    assert [float(again(x)), float(na.grad(again)(x))] == [12.0, 7.0]


@pytest.mark.full
def test_torch_compiles_second_derivatives_of_choices() -> None:
    """Of traces in which all branches run; a loop needs a number of steps for that."""
    x = torch.tensor(2.0)
    chosen = lambda x: na.cond(x > 0, lambda x: x**3, lambda x: na.sqrt(-x), x)  # noqa: E731
    looped = lambda x, **limit: na.while_loop(lambda c: c < 7.0, lambda c: c * x, x, **limit)  # noqa: E731
    for fn in (chosen, lambda x: looped(x, max_steps=4)):
        assert float(jit(na.grad(na.grad(fn)), "torch")(x)) == 12.0
        assert float(jit(na.jacrev(fn), "torch")(x)) == 12.0
    assert float(na.grad(jit(na.grad(looped), "torch"))(x)) == 12.0
    message = (
        "while_loop: PyTorch cannot compile a loop without max_steps inside of vmap, jvp, jacrev or a "
        "gradient of the gradient; give it max_steps, or do not compile"
    )
    with pytest.raises(errors.UnsupportedError, match=f"^{re.escape(message)}$"):
        jit(na.jacrev(looped), "torch")(x)


@pytest.mark.parametrize("padding", [1, ((2, 0),), 0])
def test_tensorflow_compiles_mapped_derivatives_by_a_kernel(padding: Any) -> None:
    rng = np.random.default_rng(0)
    x, kernel = (na.to_backend(rng.normal(size=s), "tensorflow") for s in ((3, 2, 5), (2, 2, 3)))
    of_a_row = na.grad(lambda k, x: na.sum(na.conv1d(x[None], k, padding=padding) ** 2))
    mapped = na.vmap(of_a_row, in_axes=(None, 0))
    assert_close(na.jit(mapped)(kernel, x), na.stack([of_a_row(kernel, row) for row in x]))


def test_its_name() -> None:
    assert na.jit(loss).__name__ == "loss"
    assert repr(na.jit(loss)) == "<nestarray.jit of loss>"


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_traces_are_counted(name: str) -> None:
    options = {"backend": "aot_eager"} if name == "torch" else {}
    double = na.jit(lambda c: c * 2, **options)
    c = na.to_backend(na.Container(a=np.ones(2, "float32")), name)
    for _ in range(3):
        double(c)
    assert double.traces == 1
    double(na.to_backend(na.Container(a=np.ones(3, "float32")), name))
    assert double.traces == 2
    plain = na.jit(lambda x: x * 2)
    plain(np.ones(2))
    assert plain.traces == 0


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_settings_are_static(name: str) -> None:
    options = {"backend": "aot_eager"} if name == "torch" else {}

    def power(x: Any, n: int, *, negate: bool) -> Any:
        for _ in range(n):
            x = x * 2
        return -x if negate else x

    compiled = na.jit(power, static_argnums=1, static_argnames="negate", **options)
    x = na.to_backend(np.ones(2, "float32"), name)
    assert_close(compiled(x, 3, negate=False), x * 8)
    assert_close(compiled(x, 2, negate=True), x * -4)
    assert_close(compiled(x, 3, negate=False), x * 8)
    assert compiled.traces == 2


def test_a_step_of_training_is_the_program_of_optax() -> None:
    v = na.Container(
        {f"layer{i}": {"w": jnp.full((8, 8), 0.1), "b": jnp.zeros(8)} for i in range(3)}
    )
    x = jnp.ones((4, 8))
    ours, theirs = na.nn.AdamW(1e-3), optax.adamw(1e-3, weight_decay=1e-2)

    def forward(v: Any, x: Any) -> Any:
        for layer in v.values():
            x = jax.nn.relu(x @ layer["w"].T + layer["b"])
        return jnp.mean(x**2)

    def our_step(v: Any, state: Any, x: Any) -> Any:
        value, grads = na.execute_with_gradients(lambda v: forward(v, x), v)
        return value, *ours.step(v, grads, state)

    def their_step(v: Any, state: Any, x: Any) -> Any:
        value, grads = jax.value_and_grad(forward)(v, x)
        updates, state = theirs.update(grads, state, v)
        return value, optax.apply_updates(v, updates), state

    def kernels(step: Any, *arguments: Any) -> dict[str, int]:
        text = jax.jit(step, donate_argnums=(0, 1)).lower(*arguments).compile().as_text()
        arrays = re.findall(r"= \w+\[[\d,]+\]\S* (\w+)\(", text[text.index("ENTRY") :])
        return {name: arrays.count(name) for name in ("fusion", "dot", "copy", "convert")}

    native = kernels(their_step, v.to_dict(), theirs.init(v.to_dict()), x)
    assert native["fusion"] > 10
    assert kernels(our_step, v, ours.init(v), x) == native


def test_donated_arrays_are_deleted_on_jax() -> None:
    x = na.to_backend(np.ones(2, "float32"), "jax")
    na.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()


def test_donated_arrays_are_written_over_on_torch() -> None:
    def step(v: Any, x: Any) -> Any:
        return na.sum(v.w * x), v - na.grad(lambda v: na.sum(v.w * x * v.w))(v)

    rows, x = torch.arange(6.0).reshape(3, 2), torch.ones(3, 2)
    expected = step(na.Container(w=rows.clone()), x)
    v = na.Container(w=rows.clone())
    value, new = na.jit(step, donate_argnums=0)(v, x)
    assert new.w.data_ptr() == v.w.data_ptr()
    assert torch.equal(value, expected[0])
    assert torch.equal(new.w, expected[1].w)
    kept = na.Container(w=rows.clone())
    assert na.jit(step)(kept, x)[1].w.data_ptr() != kept.w.data_ptr()
    assert torch.equal(kept.w, rows)


@pytest.mark.parametrize("options", [{"donate_argnames": "b"}, {"donate_argnums": 1}])
def test_donated_by_name(options: dict[str, Any]) -> None:
    def step(a: Any, b: Any) -> Any:
        return a * 2 + b

    for give in (lambda f, a, b: f(a, b), lambda f, a, b: f(a, b=b)):
        a, b = torch.ones(3), torch.ones(3)
        found = give(na.jit(step, **options), a, b)
        assert found.data_ptr() == b.data_ptr()
        assert torch.equal(a, torch.ones(3))
        c, d = (na.to_backend(np.ones(3, "float32"), "jax") for _ in range(2))
        give(na.jit(step, **options), c, d)
        assert d.is_deleted()
        assert not c.is_deleted()
        e, f = (na.to_backend(np.ones(3, "float32"), "tensorflow") for _ in range(2))
        assert give(na.jit(step, **options), e, f).numpy().tolist() == [3.0, 3.0, 3.0]


@pytest.mark.full
@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: (a * 2, a + 0, b, b[0], (a * b)[:1]),  # some are, or are parts of, arguments
        lambda a, b: (b @ a, a @ b),  # both read until the end
    ],
)
def test_donation_changes_no_value(fn: Any) -> None:
    arrays = torch.arange(9.0).reshape(3, 3), torch.ones(3, 3)
    expected = fn(*arrays)
    compiled = na.jit(fn, donate_argnums=(0, 1))
    for _ in range(2):
        found = compiled(*map(torch.clone, arrays))
        assert all(map(torch.equal, found, expected))
    one = arrays[0].clone()
    assert all(map(torch.equal, compiled(one, one), fn(arrays[0], arrays[0])))  # shared memory
    assert torch.equal(one, arrays[0])
    leaf = arrays[0].clone().requires_grad_()
    for got, want in zip(compiled(leaf, arrays[1].clone()), fn(leaf, arrays[1]), strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_new_shapes_may_raise(name: str) -> None:
    options = {"backend": "aot_eager"} if name == "torch" else {}
    double = na.jit(lambda c: c * 2, new_shapes="raise", **options)
    c = na.to_backend(na.Container(a=np.ones(2, "float32"), b=np.ones(1, "float32")), name)
    double(c)
    double(c + 1)
    with pytest.raises(
        errors.ShapeError,
        match=r"array 1 of the arguments: got f32\[3\], compiled for f32\[1\]; say new_shapes='recompile'",
    ):
        double(c.set("b", na.to_backend(np.ones(3, "float32"), name)))
    with pytest.raises(
        errors.StructureError, match=r"have another structure than in the first call"
    ):
        double(c.delete("b"))
    with pytest.raises(errors.ArgumentError) as info:
        na.jit(lambda x: x, new_shapes="pad")
    assert str(info.value) == "jit: new_shapes: got 'pad', expected 'recompile' or 'raise'"


def test_traces_of_tensorflow_serve_variables_tapes_and_graphs() -> None:
    import tensorflow as tf

    outside = tf.Variable([3.0, 4.0])
    scale = na.jit(lambda x: {"y": na.multiply(x, outside), "n": 1})
    x, w = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    expected = x * outside
    for given in (x, w, x):
        assert_close(scale(given)["y"], expected)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scale(given)["y"]
        to_x, to_outside = tape.gradient(y, [w if given is w else x, outside])
        assert_close(tf.convert_to_tensor(to_x), tf.convert_to_tensor(outside))
        assert_close(to_outside, x)
    assert_close(tf.function(lambda x: scale(x)["y"], autograph=False)(x), expected)
    assert_close(na.jvp(lambda x: scale(x)["y"], [x], [x])[1], expected)
    outside.assign([0.0, 1.0])
    assert_close(scale(x)["y"], tf.constant([0.0, 2.0]))


def test_jacobians_of_compiled_functions(backend: str) -> None:
    _, x = small(backend)
    compiled = jit(lambda x: na.exp(x) * x, backend)
    expected = na.diag(na.exp(x) * (x + 1.0))
    assert_close(na.jacrev(compiled)(x), expected)
    assert_close(na.jacfwd(compiled)(x), expected)


STOPPED = {
    "factor": lambda x: x * na.stop_gradient(na.sum(x)),
    "view": lambda x: x[...] * na.stop_gradient(x[...]),
    "mapped": lambda x: na.vmap(lambda row: row * na.stop_gradient(na.sum(row)))(x),
    "slope": lambda x: na.grad(lambda x: na.sum(x**3 * na.stop_gradient(x)))(x),
}


@pytest.mark.parametrize("name", STOPPED)
def test_gradients_stop_in_compiled_functions(backend: str, name: str) -> None:
    x = na.to_backend(np.arange(6, dtype=np.float32).reshape(2, 3), backend)
    function = STOPPED[name]
    expected = na.grad(lambda x: na.sum(function(x)))(x)
    found = na.grad(lambda x: na.sum(na.jit(function)(x)))(x)
    assert_close(found, expected)

"""Primitives of other releases of JAX: unknown ones, unknown parameters, missing modules."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive
from jax.interpreters import ad

import nestarray as na
from nestarray import errors
from nestarray.frontends.jax import vocabulary
from nestarray.importers.jax import decompositions, equations
from tests.arrays import host

X = jnp.asarray([0.5, 1.0, 2.0])


def primitive(name: str, impl: Any = None) -> Primitive:
    """A primitive with results as its operand."""
    new = Primitive(name)
    new.def_abstract_eval(lambda x, **parameters: x)
    if impl is not None:
        new.def_impl(impl)
    return new


def names(function: Any, *args: Any, **settings: Any) -> list[str]:
    return [node.target_name for node in na.trace_graph(function, *args, **settings).calls]


# -- parameters ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, False, ()])
def test_unknown_parameters_that_are_off_are_accepted(value: Any) -> None:
    sin = primitive("sin")
    assert names(lambda x: sin.bind(x, later=value), X) == ["jax.lax.sin"]


def test_unknown_parameters_at_the_default_of_jax_are_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def later(x: Any, *, rounding: str = "even", exact: bool = True) -> Any:
        return x

    monkeypatch.setattr(jax.lax, "sin", later)
    sin = primitive("sin")
    assert names(lambda x: sin.bind(x, rounding="even", exact=True), X) == ["jax.lax.sin"]
    message = r"sin \(test_releases.py:\d+\): parameter exact=False \(JAX [\d.]+\) is unknown; "
    with pytest.raises(errors.MissingOpError, match=message + "use the default exact=True, or"):
        na.trace_graph(lambda x: sin.bind(x, rounding="even", exact=False), X)


def test_other_unknown_parameters_are_named() -> None:
    sin = primitive("sin")
    version = re.escape(jax.__version__)
    message = rf"sin .*parameter angle='degrees' \(JAX {version}\) is unknown; leave it out, or"
    with pytest.raises(errors.MissingOpError, match=message):
        na.trace_graph(lambda x: sin.bind(x, angle="degrees"), X)
    assert names(jnp.sin, X) == ["jax.lax.sin"]


def test_a_primitive_with_an_unknown_parameter_is_decomposed(backend: str) -> None:
    sin = primitive("sin", lambda x, *, angle: jnp.sin(x * 2 * jnp.pi / 360))
    graph = na.trace_graph(lambda x: sin.bind(x, angle="degrees"), X).to_backend(backend)
    np.testing.assert_allclose(
        host(graph(na.to_backend(X, backend))), np.sin(np.deg2rad(X)), rtol=1e-5
    )


def test_renamed_parameters_are_named() -> None:
    sort = primitive("fft")
    message = r"fft .*its parameters have a form that is unknown \(KeyError: 'fft_type'; JAX"
    with pytest.raises(errors.MissingOpError, match=message):
        na.trace_graph(lambda x: sort.bind(x, kind="FFT"), X)


# -- equations that take functions -----------------------------------------------------------


def equation(function: Any, name: str) -> Any:
    """The equation of a primitive in a program."""
    jaxpr = jax.make_jaxpr(function)(X).jaxpr
    return next(eqn for eqn in jaxpr.eqns if eqn.primitive.name == name)


def summed(x: Any) -> Any:
    return jax.lax.scan(lambda carry, row: (carry + row * x[0], carry), 0.0, x)


@pytest.mark.parametrize("counts", ["numbers", "trees"])
def test_counts_of_a_scan(counts: str) -> None:
    class Trees:
        def unpack(self) -> Any:
            return [None] * 1, [None] * 1, [None] * 1

    scan = equation(summed, "scan")
    rest = {k: x for k, x in scan.params.items() if k in ("jaxpr", "length", "reverse")}
    forms = {"numbers": {"num_consts": 1, "num_carry": 1}, "trees": {"ft_in": Trees()}}
    found = equations.scan_of(scan.replace(params=rest | forms[counts]))
    assert found[1:] == (1, 1, 3, False)
    assert found == equations.scan_of(scan)


def test_a_scan_of_another_form_is_refused() -> None:
    scan = equation(summed, "scan")
    assert not equations.refusal(scan)
    old = {k: x for k, x in scan.params.items() if not k.startswith(("ft_", "num_"))}
    assert "KeyError: 'num_consts'" in equations.refusal(scan.replace(params=old))
    new = scan.params | {"unroll": 2, "skip": 3}
    assert equations.refusal(scan.replace(params=new)).startswith("parameter skip=3 (JAX")
    assert not equations.refusal(scan.replace(params=scan.params | {"skip": None}))


@pytest.mark.parametrize("key", ["jaxpr", "call_jaxpr"])
def test_the_jaxpr_of_a_composite(key: str) -> None:
    composite = equation(lambda x: jax.lax.composite(lambda y: y * 2, "my.double")(x), "composite")
    call = equations.call_of(composite)
    params = {"name": "my.double", "attributes": (), "version": 0, key: call.jaxpr}
    assert equations.call_of(composite.replace(params=params)) == call


def test_a_traced_function_in_a_program(backend: str) -> None:
    traced = jax.jit(lambda x: jnp.tanh(x) * 2).trace(X)
    if not callable(traced):
        pytest.skip("before JAX 0.12 it is no function")
    graph = na.trace_graph(lambda x: traced(x) + jnp.sin(x), X).to_backend(backend)
    assert graph.calls[0].target_name == "jax.lax.tanh"
    graph.verify().raise_if_failed()


def test_one_program_with_an_unknown_form_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(eqn: Any) -> Any:
        raise KeyError("num_consts")

    monkeypatch.setattr(equations, "scan_of", changed)
    equations.refusal.cache_clear()
    with pytest.raises(errors.MissingOpError, match=r"scan .*form that is unknown .*'num_consts'"):
        na.trace_graph(summed, X, islands=False)
    assert names(lambda x: jax.lax.while_loop(lambda c: c[0] < 9, lambda c: c * 2, x), X)
    equations.refusal.cache_clear()


def test_only_one_file_reads_the_parameters_of_functions() -> None:
    keys = {"jaxpr", "call_jaxpr", "branches", "cond_jaxpr", "body_jaxpr", "num_consts", "ft_in"}
    pattern = re.compile(rf"params(?:\.get\(|\[)\"({'|'.join(sorted(keys))})\"")
    folder = Path(equations.__file__).parent
    readers = {file.name for file in folder.glob("*.py") if pattern.search(file.read_text())}
    assert readers == {"equations.py"}


# -- unknown primitives ----------------------------------------------------------------------


def test_an_unknown_primitive() -> None:
    unknown = primitive("future")
    with pytest.raises(errors.MissingOpError, match=r"future: there is no function of that name"):
        na.trace_graph(unknown.bind, X)
    assert "na.graph.island" in names(lambda x: jnp.sin(unknown.bind(x)), X, islands=True)
    assert names(jnp.cos, X) == ["jax.lax.cos"]


swirl = primitive("swirl", lambda x, *, turns: jnp.sin(x) * turns + jax.jit(jnp.cos)(x))


def test_the_formula_of_a_primitive(backend: str) -> None:
    graph = na.trace_graph(lambda x: swirl.bind(x, turns=2.0) ** 2, X).to_backend(backend)
    x = na.to_backend(X, backend)
    formula = lambda x: jnp.sum((jnp.sin(x) * 2 + jnp.cos(x)) ** 2)  # noqa: E731
    np.testing.assert_allclose(na.sum(graph(x)), formula(X), rtol=1e-5)
    gradient = na.grad(lambda x: na.sum(graph(x)))(x)
    np.testing.assert_allclose(host(gradient), jax.grad(formula)(X), rtol=1e-4)
    assert graph.verify().ok
    (operation, _) = na.check(lambda x: swirl.bind(x, turns=2.0) ** 2, X, target=backend).operations
    assert (operation.name, operation.status) == ("swirl", "decomposed")
    assert operation.becomes == "jax.lax.sin, jax.lax.mul, jax.lax.cos, jax.lax.add"


step = primitive("straight_step", lambda x: jnp.floor(x))
ad.defjvp(step, lambda tangent, x: 3 * tangent)


def test_the_derivative_of_a_primitive_is_the_one_of_jax(backend: str) -> None:
    graph = na.trace_graph(step.bind, X).to_backend(backend)
    x = na.to_backend(X, backend)
    np.testing.assert_array_equal(host(graph(x)), np.floor(X))
    np.testing.assert_array_equal(host(na.grad(lambda x: na.sum(graph(x)))(x)), [3, 3, 3])
    assert graph.verify().ok


@pytest.mark.parametrize("hidden", ["logistic", "cumsum", "igamma"])
def test_the_formula_of_jax_for_its_own_primitives(
    hidden: str, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = vocabulary.find
    monkeypatch.setattr(vocabulary, "find", lambda op, /: None if op == hidden else find(op))
    function = {"igamma": lambda x: jax.lax.igamma(x, x)}.get(hidden, getattr(jax.lax, hidden))
    graph = na.trace_graph(function, X)
    assert f"jax.lax.{hidden}" not in [node.target_name for node in graph.calls]
    assert graph.to_backend(backend).verify().ok


def test_without_the_table_of_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    find = vocabulary.find
    monkeypatch.setattr(vocabulary, "find", lambda op, /: None if op == "logistic" else find(op))
    monkeypatch.setattr(decompositions, "_TABLE", "jax._src.gone._lowerings")
    message = (
        "logistic: there is no function of that name.*it has no jax._src.gone._lowerings any more"
    )
    with pytest.raises(errors.MissingOpError, match=message):
        na.trace_graph(jax.lax.logistic, X)
    assert names(jnp.sin, X) == ["jax.lax.sin"]
    assert names(jax.lax.logistic, X, islands=True) == ["na.graph.island"]


# -- modules ---------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["jax.extend.source_info_util", "jax.interpreters.partial_eval"])
def test_a_missing_module(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import jax.extend.source_info_util
    import jax.interpreters.partial_eval

    package, _, name = module.rpartition(".")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(sys.modules[package], name)
    graph = na.trace_graph(lambda x: jax.nn.relu(jnp.sin(x)) + summed(x)[0], X)
    assert graph.to_backend("numpy").verify().ok
    (sin,) = [node for node in graph.calls if node.target_name == "jax.lax.sin"]
    assert (sin.line == "") is (name == "source_info_util")

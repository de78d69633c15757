"""The transformations and trees of `jax` against JAX."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend
from tests.arrays import host, on
from tests.frontends import jax_expressions as expressions

pytestmark = pytest.mark.one_in(4)


X = {"w": np.asarray([1.0, -2.0, 0.5], "float32"), "b": [np.asarray(2.0, "float32")]}


def _loss(j: Any, tree: Any, y: Any) -> Any:
    return j.numpy.sum(j.numpy.sin(tree["w"]) * y) * tree["b"][0]


def _residuals(j: Any, tree: Any, y: Any) -> Any:
    return {"r": tree["w"] * y, "s": j.numpy.exp(tree["b"][0])}


def _both(j: Any, tree: Any, y: Any) -> Any:
    return _loss(j, tree, y), {"aux": y * 2}


def _by_hand(j: Any) -> Any:
    @j.custom_vjp
    def doubled(x: Any) -> Any:
        return 2 * x

    doubled.defvjp(lambda x: (2 * x, x), lambda x, ct: (ct * x,))
    return doubled


def _pushed(j: Any) -> Any:
    @j.custom_jvp
    def doubled(x: Any) -> Any:
        return 2 * x

    @doubled.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return 2 * primals[0], tangents[0] * primals[0]

    return doubled


def _gradient_by_hand(j: Any) -> Any:
    return j.custom_gradient(lambda x: (2 * x, lambda ct: (ct * x * x,)))


#: Functions of a `jax` module, a tree and an array.
CALLS = {
    "grad": lambda j, x, y: j.grad(lambda x, y: _loss(j, x, y))(x, y),
    "grad of two": lambda j, x, y: j.grad(lambda x, y: _loss(j, x, y), (1, 0))(x, y),
    "grad with aux": lambda j, x, y: j.grad(lambda x, y: _both(j, x, y), has_aux=True)(x, y),
    "value_and_grad": lambda j, x, y: j.value_and_grad(lambda x, y: _both(j, x, y), has_aux=True)(x, y),
    "complex grad": lambda j, x, y: j.grad(lambda z: j.numpy.sum(j.numpy.real(z * z * 1j)))(j.lax.complex(y, y + 1)),
    "holomorphic grad": lambda j, x, y: j.grad(lambda z: j.numpy.sum(z * z), holomorphic=True)(j.lax.complex(y, y + 1)),
    "complex vjp": lambda j, x, y: j.vjp(lambda z: z * z, j.lax.complex(y, y + 1))[1](j.lax.complex(y, y * 0 + 1)),
    "jvp": lambda j, x, y: j.jvp(lambda x, y: _residuals(j, x, y), (x, y), (x, y)),
    "jvp with aux": lambda j, x, y: j.jvp(lambda x, y: _both(j, x, y), (x, y), (x, y), has_aux=True),
    "vjp": lambda j, x, y: j.vjp(lambda x, y: _residuals(j, x, y), x, y)[1]({"r": y, "s": x["b"][0]}),
    "vjp with aux": lambda j, x, y: [f(x["b"][0]) if callable(f) else f for f in j.vjp(lambda x, y: _both(j, x, y), x, y, has_aux=True)],
    "linearize": lambda j, x, y: j.linearize(lambda x, y: _residuals(j, x, y), x, y)[1](x, y * 2),
    "linear_transpose": lambda j, x, y: j.linear_transpose(lambda z: z * 3, y)(y),
    "jacfwd": lambda j, x, y: j.jacfwd(lambda x, y: _residuals(j, x, y))(x, y),
    "jacrev": lambda j, x, y: j.jacrev(lambda x, y: _residuals(j, x, y), (0, 1))(x, y),
    "hessian": lambda j, x, y: j.hessian(lambda x, y: _loss(j, x, y))(x, y),
    "fwd_and_bwd": lambda j, x, y: (lambda f, b: b(f(x, y)[1], x["b"][0]))(*j.fwd_and_bwd(lambda x, y: _loss(j, x, y), 1)),
    "vmap of keywords": lambda j, x, y: j.vmap(lambda z, y: {"z": z * y}, None)(2.0, y=y),
    "vmap to the second axis": lambda j, x, y: j.vmap(lambda z: (z, [z * y]), out_axes=(0, 1))(y),
    "vmap": lambda j, x, y: j.vmap(lambda x, y: x["w"] * y, ({"w": 0, "b": None}, 0), 0)(x, y),
    "jit": lambda j, x, y: j.jit(lambda x, n: x["w"] * n, static_argnums=1)(x, 3),
    "jit as a decorator": lambda j, x, y: j.jit(static_argnames="n")(lambda y, n: y * n)(y, n=2),
    "checkpoint": lambda j, x, y: j.grad(j.checkpoint(lambda x: _loss(j, x, y), policy=j.checkpoint_policies.dots_saveable))(x),
    "remat": lambda j, x, y: j.grad(j.remat(lambda x: _loss(j, x, y)))(x),
    "custom_vjp": lambda j, x, y: j.grad(lambda y: j.numpy.sum(_by_hand(j)(y)))(y),
    "custom_vjp, complex": lambda j, x, y: j.grad(lambda y: j.numpy.sum(j.numpy.imag(_by_hand(j)(y))))(j.lax.complex(y, y + 1)),
    "custom_jvp": lambda j, x, y: j.grad(lambda y: j.numpy.sum(_pushed(j)(y)))(y),
    "custom_gradient": lambda j, x, y: j.grad(lambda y: j.numpy.sum(_gradient_by_hand(j)(y)))(y),
    "closure_convert": lambda j, x, y: (lambda f, rest: f(y, *rest))(*j.closure_convert(lambda z: z * y, y)),
    "named_call": lambda j, x, y: j.named_call(lambda z: z * 2, name="twice")(y),
    "device_put": lambda j, x, y: j.block_until_ready(j.device_put(x)),
}  # fmt: skip
COMPILING = ("jit", "checkpoint", "remat")


@pytest.mark.parametrize("name", CALLS)
def test_values(name: str, backend: str) -> None:
    if backend in ("torch", "tensorflow") and name.startswith("jit"):
        backend = "numpy"  # tests of `na.jit` compile
    y = np.asarray([0.3, 0.7, -1.1], "float32")
    want = CALLS[name](jax, jax.tree.map(jax.numpy.asarray, X), jax.numpy.asarray(y))
    found = CALLS[name](frontend, jax.tree.map(lambda x: on(backend, x), X), on(backend, y))
    want, structure = jax.tree.flatten(want)
    found, ours = frontend.tree.flatten(found)
    assert str(structure) == str(ours)
    for x, wanted in zip(found, want, strict=True):
        assert na.backend_of(x) == backend
        assert str(na.dtype_of(x)) == str(wanted.dtype)
        np.testing.assert_allclose(host(x), np.asarray(wanted), rtol=1e-4, atol=1e-5)


def test_disable_jit() -> None:
    function = frontend.jit(float)  # a traced array has no value
    with frontend.disable_jit(), frontend.named_scope("s"):
        assert function(jax.numpy.ones(())) == 1.0


def test_shapes_of_results() -> None:
    struct = frontend.ShapeDtypeStruct((2, 3), "float32")
    found = frontend.eval_shape(lambda x: {"y": frontend.numpy.matmul(x, x.T)}, struct)
    assert found == {"y": frontend.ShapeDtypeStruct((2, 2), "float32")}
    assert (struct.ndim, struct.size) == (2, 6)
    assert repr(found["y"]) == "ShapeDtypeStruct(shape=(2, 2), dtype=float32)"


def test_arrays(backend: str) -> None:
    x = on(backend, np.ones(2, "float32"))
    assert isinstance(x, frontend.Array)
    assert not isinstance([1.0], frontend.Array)
    assert isinstance(frontend.device_get({"x": x})["x"], np.ndarray)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda j, x: j.grad(lambda x: x.sum())(x), na.errors.DtypeError, "grad: argument 0: got int"),
        (lambda j, x: j.grad(lambda x: x, has_aux=True)(x * 1.0), na.errors.ArgumentError, "pair"),
        (lambda j, x: j.tree.map(max, [1], (2,)), na.errors.StructureError, "tree: got PyTreeDef"),
        (lambda j, x: j.tree.map(max, [1], 2), na.errors.StructureError, "tree: got a int"),
        (lambda j, x: j.tree.unflatten(j.tree.structure([1]), [1, 2]), na.errors.StructureError, "got 2, expected 1"),
        (lambda j, x: j.tree.leaves({1: 1, "a": 2}), na.errors.ArgumentError, "keys that can be sorted"),
        (lambda j, x: j.tree_util.register_static(dict), na.errors.ArgumentError, "already a type of nodes"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call(frontend, np.asarray([1, 2]))


def test_gradients_of_integers_are_zeros() -> None:
    found = frontend.grad(lambda x, i: (x * i).sum(), (0, 1), allow_int=True)(
        np.ones(2), np.asarray([1, 2])
    )
    assert [x.tolist() for x in found] == [[1.0, 2.0], [0, 0]]


# -- trees -----------------------------------------------------------------------------------

Point = collections.namedtuple("Point", "x y")
TREE = {
    "b": [1, (2, None)],
    "a": Point(3, collections.OrderedDict(z=4, y=5)),
    "d": collections.defaultdict(list, {2: 6, 1: 7}),
}

TREES = """flatten(TREE)[0]; leaves(TREE); str(structure([1, (2,), {'a': None}])); map(lambda x: x * 2, TREE); map(lambda x, y: (x, y), [1, 2], [[3], 4])
map(lambda x: x, [1, None], is_leaf=lambda x: x is None); unflatten(structure(TREE), range(7)); all([1, {'a': 0}]); all([]); static(default=3, metadata={'unit': 1}).metadata['static']; static(default=3).default; reduce(lambda a, b: a * 10 + b, TREE); reduce(lambda a, b: a + b, TREE, 100)
reduce_associative(lambda a, b: a + b, [[1], [[2], [3]]]); reduce_associative(max, [], identity=4); broadcast({'a': 1, 'b': 2}, {'a': [0, 0], 'b': (0, [0])}); transpose(structure([0, 0]), structure({'a': 0}), [{'a': 1}, {'a': 2}]); transpose(structure([0, 0]), None, [(1, 2), (3, 4)])
[str(p) for path, _ in leaves_with_path(TREE) for p in path]; flatten_with_path(TREE)[0][0][1]; map_with_path(lambda path, x: (len(path), x), TREE); structure(TREE) == structure(map(lambda x: 0, TREE)); structure([1]) == structure((1,)); hash(structure([1])) == hash(structure([2])); structure(TREE).num_leaves"""  # fmt: skip
UTILITIES = """tree_leaves(TREE); [keystr(p) for p, _ in tree_leaves_with_path(TREE)]; [keystr(p, simple=True, separator='/') for p, _ in tree_leaves_with_path(TREE)]; all_leaves([1, 2]); all_leaves([1, []]); [c.num_leaves for c in treedef_children(tree_structure(TREE))]
treedef_is_leaf(tree_structure(1)); treedef_is_leaf(tree_structure([1])); str(treedef_tuple([tree_structure(1), tree_structure([2])])); tree_map(lambda x: x + 1, Partial(max, 1, key=2)).args; tree_structure([1, 2]).flatten_up_to([[1], 2])
is_tree_node(dict); is_tree_node(int); tree_all(TREE); tree_flatten(TREE)[0]; tree_flatten_with_path(TREE)[0][-1][1]; tree_map_with_path(lambda p, x: x, TREE); tree_reduce(max, TREE); tree_reduce_associative(max, TREE); tree_broadcast(1, TREE)
tree_transpose(tree_structure([0, 0]), None, [(1, 2), (3, 4)]); tree_unflatten(tree_structure([0, 0]), [1, 2]); DictKey('a').key; str(SequenceKey(1)); str(GetAttrKey('a')); str(FlattenedIndexKey(2)); list(flatten_one_level([1, [2]])[0]); flatten_one_level({'b': 1, 'a': [2]})[1]; list(flatten_one_level(None)[0]); [(str(k), x) for k, x in flatten_one_level_with_keys({'b': 1, 'a': [2]})[0]]"""  # fmt: skip
TREE_ROWS = [
    (space, row.strip())
    for space, rows in (("tree", TREES), ("tree_util", UTILITIES))
    for row in rows.replace("\n", ";").split(";")
]


@pytest.mark.parametrize(("space", "expression"), TREE_ROWS)
def test_trees(space: str, expression: str) -> None:
    want, found = [
        eval(expression, {**vars(getattr(j, space)), "TREE": TREE}) for j in (jax, frontend)
    ]
    assert found == want
    assert type(found) is type(want)


@pytest.mark.parametrize("space", ["tree", "tree_util"])
def test_every_function_of_trees_has_an_expression(space: str) -> None:
    used = {*expressions.names_in("(register_dataclass, register_pytree_node, register_pytree_node_class, register_pytree_with_keys, register_pytree_with_keys_class, register_static)")}  # fmt: skip
    rows = [row for s, row in TREE_ROWS if s == space]
    expressions.assert_every_function_is_used(space, [*rows, *used])


class _Pair:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def tree_flatten(self) -> Any:
        return (self.first,), self.second

    def tree_flatten_with_keys(self) -> Any:
        return ((frontend.tree_util.GetAttrKey("first"), self.first),), self.second

    @classmethod
    def tree_unflatten(cls, data: Any, children: Any) -> Any:
        return cls(*children, data)


REGISTERED = {
    "register_pytree_node": lambda u, cls: u.register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten),
    "register_pytree_node_class": lambda u, cls: u.register_pytree_node_class(cls),
    "register_pytree_with_keys": lambda u, cls: u.register_pytree_with_keys(cls, cls.tree_flatten_with_keys, cls.tree_unflatten),
    "register_pytree_with_keys_class": lambda u, cls: u.register_pytree_with_keys_class(cls),
}  # fmt: skip


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_types_are_nodes(name: str) -> None:
    cls = type("Pair", (_Pair,), {})
    REGISTERED[name](frontend.tree_util, cls)
    found = frontend.grad(lambda p: (p.first * p.second).sum())(cls(np.ones(2), 3.0))
    assert (found.first.tolist(), found.second) == ([3.0, 3.0], 3.0)
    path = frontend.tree_util.keystr(frontend.tree.leaves_with_path(cls(1, 2))[0][0])
    assert path == (".first" if "keys" in name else "[<flat index 0>]")
    assert "CustomNode(Pair[2], [*])" in str(frontend.tree.structure(cls(1, 2)))


def test_dataclasses_are_nodes() -> None:
    @dataclasses.dataclass
    class Model:
        w: Any
        name: str = frontend.tree.static(default="a")

    frontend.tree_util.register_dataclass(Model)
    found = frontend.vmap(lambda m: m.w * 2)(Model(np.ones((2, 3)), "a"))
    assert found.shape == (2, 3)
    assert frontend.tree.map(lambda x: x + 1, Model(1, "a")) == Model(2, "a")
    assert frontend.tree_util.flatten_one_level(Model(1)) == ((1,), ("a",))
    with pytest.raises(na.errors.ArgumentError, match="flatten_one_level: tree: got a int"):
        frontend.tree_util.flatten_one_level(1)
    static = frontend.tree_util.register_static(type("Static", (), {}))
    assert frontend.tree.leaves(static()) == []

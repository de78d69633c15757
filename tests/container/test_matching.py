"""match: models of torch, Flax and Haiku that name the same parameters differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, PathError, ShapeError, StructureError
from tests.container.test_differences import assert_same

WIDTH, HEADS, LAYERS = 8, 2, 3


def named(keymap: na.KeyMap) -> dict[str, str]:
    return {"/".join(p.source): "/".join(map(str, p.target)) for p in keymap.pairs}  # type: ignore[arg-type]


def values(c: na.Container) -> na.Container:
    """The same tree with a different number in every element."""
    starts = np.cumsum([0, *(int(np.prod(leaf.shape)) for leaf in c.leaves())])
    start = iter(starts)
    return c.map(
        lambda x: np.arange(np.prod(x.shape), dtype="float32").reshape(x.shape) + next(start)
    )


def shapes(init: Any, *args: Any, in_order: bool) -> na.Container:
    """The shapes of what `init` returns, its keys in order or sorted, as JAX's functions leave them."""
    import jax

    made = []

    def noted(*args: Any) -> Any:
        made.append(init(*args))
        return made[0]

    tree = jax.eval_shape(noted, *args)
    shape = na.Container(made[0] if in_order else tree)
    return shape.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype))


# -- a transformer ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bert() -> na.Container:
    """The parameters of BERT, by its names."""
    from torch import nn

    def norm() -> nn.Module:
        return nn.LayerNorm(WIDTH)

    def output(old: int) -> nn.Module:
        return nn.ModuleDict({"dense": nn.Linear(old, WIDTH), "LayerNorm": norm()})

    def layer() -> nn.Module:
        heads = nn.ModuleDict({n: nn.Linear(WIDTH, WIDTH) for n in ("query", "key", "value")})
        return nn.ModuleDict(
            {
                "attention": nn.ModuleDict({"self": heads, "output": output(WIDTH)}),
                "intermediate": nn.ModuleDict({"dense": nn.Linear(WIDTH, 4 * WIDTH)}),
                "output": output(4 * WIDTH),
            }
        )

    embeddings = nn.ModuleDict(
        {
            "word_embeddings": nn.Embedding(50, WIDTH),
            "position_embeddings": nn.Embedding(16, WIDTH),
            "token_type_embeddings": nn.Embedding(2, WIDTH),
            "LayerNorm": norm(),
        }
    )
    layers = nn.ModuleList([layer() for _ in range(LAYERS)])
    model = nn.ModuleDict(
        {
            "embeddings": embeddings,
            "encoder": nn.ModuleDict({"layer": layers}),
            "pooler": nn.ModuleDict({"dense": nn.Linear(WIDTH, WIDTH)}),
        }
    )
    return na.Container.from_torch_module(model)


@pytest.mark.full
def test_the_names_are_those_of_the_model(bert: na.Container) -> None:
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=WIDTH, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH, vocab_size=50, max_position_embeddings=16,
    )  # fmt: skip
    assert na.Container.from_torch_module(BertModel(config)).spec is bert.spec


def flax_encoder(*, heads: bool, in_order: bool = True) -> na.Container:
    import flax.linen as fl
    import jax
    import jax.numpy as jnp

    class Block(fl.Module):
        @fl.compact
        def __call__(self, x: Any) -> Any:
            if heads:
                y = fl.MultiHeadDotProductAttention(num_heads=HEADS, name="attn")(x, x)
            else:
                q, k, v = (fl.Dense(WIDTH, name=name)(x) for name in "qkv")
                y = fl.Dense(WIDTH, name="o")(q * k + v)
            x = fl.LayerNorm(name="ln_1")(x + y)
            y = fl.Dense(WIDTH, name="fc2")(fl.Dense(4 * WIDTH, name="fc1")(x))
            return fl.LayerNorm(name="ln_2")(x + y)

    class Encoder(fl.Module):
        @fl.compact
        def __call__(self, tokens: Any) -> Any:
            x = fl.Embed(50, WIDTH, name="word_embed")(tokens)
            x += fl.Embed(16, WIDTH, name="pos_embed")(jnp.arange(4))
            x += fl.Embed(2, WIDTH, name="type_embed")(tokens * 0)
            x = fl.LayerNorm(name="embed_ln")(x)
            for i in range(LAYERS):
                x = Block(name=f"layers_{i}")(x)
            return fl.Dense(WIDTH, name="pooler")(x)

    init = Encoder().init
    key, tokens = jax.random.key(0), jnp.zeros((1, 4), "int32")
    return shapes(init, key, tokens, in_order=in_order)


ENCODER = {
    "embeddings/word_embeddings/weight": "params/word_embed/embedding",
    "embeddings/position_embeddings/weight": "params/pos_embed/embedding",
    "embeddings/token_type_embeddings/weight": "params/type_embed/embedding",
    "embeddings/LayerNorm/weight": "params/embed_ln/scale",
    "embeddings/LayerNorm/bias": "params/embed_ln/bias",
    "pooler/dense/weight": "params/pooler/kernel",
    "pooler/dense/bias": "params/pooler/bias",
}


def encoder_names(modules: dict[str, str]) -> dict[str, str]:
    names = dict(ENCODER)
    for i in range(LAYERS):
        for old, new in modules.items():
            weight = "scale" if "LayerNorm" in old else "kernel"
            front, to = f"encoder/layer/{i}/{old}", f"params/layers_{i}/{new}"
            names |= {f"{front}/weight": f"{to}/{weight}", f"{front}/bias": f"{to}/bias"}
    return names


REST = {
    "attention/output/LayerNorm": "ln_1",
    "intermediate/dense": "fc1",
    "output/dense": "fc2",
    "output/LayerNorm": "ln_2",
}
SPLIT = {
    "attention/self/query": "q", "attention/self/key": "k", "attention/self/value": "v",
    "attention/output/dense": "o",
}  # fmt: skip
JOINED = {
    "attention/self/query": "attn/query", "attention/self/key": "attn/key",
    "attention/self/value": "attn/value", "attention/output/dense": "attn/out",
}  # fmt: skip


@pytest.mark.parametrize("heads", [False, True])
def test_transformer(bert: na.Container, heads: bool) -> None:
    other = flax_encoder(heads=heads)
    keymap = bert.match(other)
    assert named(keymap) == encoder_names((JOINED if heads else SPLIT) | REST)
    assert not keymap.ambiguous
    assert keymap.unmatched == ((), ())
    back = other.match(bert)
    assert named(back.invert()) == named(keymap)
    source = values(bert)
    made = keymap.apply(source)
    assert made.spec is other.spec
    for path, leaf in made.flat_items():
        assert leaf.shape == other[path].shape
        assert path.endswith("kernel") == (leaf.ravel()[1] != leaf.ravel()[0] + 1)
    assert_same(keymap.invert().apply(made), source)


def test_orders_of_keys_that_tell_nothing(bert: na.Container) -> None:
    other = flax_encoder(heads=True, in_order=False)
    keymap = bert.match(other)
    right = encoder_names(JOINED | REST)
    assert all(right[old] == new for old, new in named(keymap).items())
    open_ones = {name for name in right if name not in named(keymap)}
    assert open_ones == {n for n in right if n.startswith("encoder") and "LayerNorm" in n}
    assert set(keymap.ambiguous) == open_ones
    for name, choices in keymap.ambiguous.items():
        assert right[name] in dict(choices)
        assert all(confidence < 0.5 for _, confidence in choices)
    with pytest.raises(StructureError) as info:
        keymap.apply(bert)
    assert str(info.value) == (
        "KeyMap.apply: 12 leaves ambiguous, such as "
        f"{next(iter(keymap.ambiguous))!r}, maybe 'params/layers_0/ln_1/bias' or "
        "'params/layers_0/ln_2/bias'. Say what belongs together with a.match(b, known={source "
        "path: target path}) or in the saved file, or leave these out with strict=False"
    )
    known = {
        f"encoder/layer/{i}/output/LayerNorm": f"params/layers_{i}/ln_2" for i in range(LAYERS)
    }
    assert named(bert.match(other, known=known)) == right


def test_fused_projections_have_no_partner() -> None:
    import torch

    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH)
    encoder = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    keymap = na.Container.from_torch_module(encoder).match(flax_encoder(heads=True))
    names = named(keymap)
    assert names["layers/1/norm1/weight"] == "params/layers_1/ln_1/scale"
    assert names["layers/2/linear2/weight"] == "params/layers_2/fc2/kernel"
    assert names["layers/0/self_attn/out_proj/weight"] == "params/layers_0/attn/out/kernel"
    assert [n for n in keymap.unmatched[0] if "layers/1" in n] == [
        "layers/1/self_attn/in_proj_weight",
        "layers/1/self_attn/in_proj_bias",
    ]
    assert not keymap.ambiguous


# -- a convolutional net ----------------------------------------------------------------------


def torch_resnet() -> Any:
    from torch import nn

    class Block(nn.Module):
        def __init__(self, old: int, new: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(old, new, 3, stride, bias=False)
            self.bn1 = nn.BatchNorm2d(new)
            self.conv2 = nn.Conv2d(new, new, 3, bias=False)
            self.bn2 = nn.BatchNorm2d(new)
            if stride > 1:
                self.downsample = nn.Sequential(
                    nn.Conv2d(old, new, 1, bias=False), nn.BatchNorm2d(new)
                )

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 8, 7, bias=False)
            self.bn1 = nn.BatchNorm2d(8)
            self.layer1 = nn.Sequential(Block(8, 8, 1), Block(8, 8, 1))
            self.layer2 = nn.Sequential(Block(8, 16, 2), Block(16, 16, 1))
            self.layer3 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1))
            self.fc = nn.Linear(32, 10)

    return ResNet()


def flax_resnet(*, in_order: bool) -> na.Container:
    import flax.linen as fl
    import jax
    import jax.numpy as jnp

    def norm(name: str | None = None) -> Any:
        return fl.BatchNorm(use_running_average=True, name=name)

    class ResNetBlock(fl.Module):
        size: int
        stride: int

        @fl.compact
        def __call__(self, x: Any) -> Any:
            y = norm()(fl.Conv(self.size, (3, 3), self.stride, use_bias=False)(x))
            y = norm()(fl.Conv(self.size, (3, 3), use_bias=False)(y))
            if self.stride > 1:
                x = fl.Conv(self.size, (1, 1), self.stride, use_bias=False, name="conv_proj")(x)
                x = norm("norm_proj")(x)
            return x + y

    class ResNet(fl.Module):
        @fl.compact
        def __call__(self, x: Any) -> Any:
            x = norm("bn_init")(fl.Conv(8, (7, 7), use_bias=False, name="conv_init")(x))
            for size, stride in ((8, 1), (8, 1), (16, 2), (16, 1), (32, 2), (32, 1)):
                x = ResNetBlock(size, stride)(x)
            return fl.Dense(10)(x.mean((1, 2)))

    init = ResNet().init
    key, x = jax.random.key(0), jnp.zeros((1, 16, 16, 3))
    return shapes(init, key, x, in_order=in_order)


def resnet_names() -> dict[str, str]:
    blocks = {f"layer{1 + i // 2}/{i % 2}": f"ResNetBlock_{i}" for i in range(6)}
    convs = {"conv1": "conv_init"}
    norms = {"bn1": "bn_init"}
    for i, (old, new) in enumerate(blocks.items()):
        for k in (1, 2):
            convs[f"{old}/conv{k}"] = f"{new}/Conv_{k - 1}"
            norms[f"{old}/bn{k}"] = f"{new}/BatchNorm_{k - 1}"
        if i in (2, 4):
            convs[f"{old}/downsample/0"] = f"{new}/conv_proj"
            norms[f"{old}/downsample/1"] = f"{new}/norm_proj"
    names = {f"{old}/weight": f"params/{new}/kernel" for old, new in convs.items()}
    for old, new in norms.items():
        names |= {
            f"{old}/weight": f"params/{new}/scale",
            f"{old}/bias": f"params/{new}/bias",
            f"{old}/running_mean": f"batch_stats/{new}/mean",
            f"{old}/running_var": f"batch_stats/{new}/var",
        }
    return {**names, "fc/weight": "params/Dense_0/kernel", "fc/bias": "params/Dense_0/bias"}


@pytest.mark.parametrize("in_order", [False, True])
def test_resnet(in_order: bool) -> None:
    source = na.Container.from_torch_module(torch_resnet(), buffers=True)
    other = flax_resnet(in_order=in_order)
    keymap = source.match(other)
    assert named(keymap) == resnet_names()
    counters = [n for n in source.paths() if n.endswith("num_batches_tracked")]
    assert keymap.unmatched == (tuple(counters), ())
    assert not keymap.ambiguous
    made = keymap.apply(source, strict=False)
    assert made.spec is other.spec
    for path, leaf in made.flat_items():
        assert tuple(leaf.shape) == other[path].shape
    kernel, weight = made["params/ResNetBlock_0/Conv_1/kernel"], source["layer1/0/conv2/weight"]
    np.testing.assert_array_equal(kernel, weight.permute(2, 3, 1, 0))
    assert str(keymap).splitlines()[-1].startswith("- layer")


def test_haiku() -> None:
    import haiku as hk
    import jax

    def layer(x: Any) -> Any:
        q, k, o = (hk.Linear(WIDTH, name=name)(x) for name in ("query", "key", "out"))
        y = hk.LayerNorm(-1, True, True)(q * k + o)
        return hk.LayerNorm(-1, True, True)(hk.nets.MLP([4 * WIDTH, WIDTH])(y))

    init = hk.transform(lambda x: layer(layer(x))).init
    other = na.Container(jax.eval_shape(init, jax.random.key(0), np.zeros((1, WIDTH), "float32")))

    def dense(old: int, new: int) -> dict[str, Any]:
        return {"weight": np.zeros((new, old), "float32"), "bias": np.zeros(new, "float32")}

    norm = {"weight": np.zeros(WIDTH, "float32"), "bias": np.zeros(WIDTH, "float32")}
    block = {
        **{name: dense(WIDTH, WIDTH) for name in ("q", "k", "out")},
        "norm1": norm, "fc1": dense(WIDTH, 4 * WIDTH), "fc2": dense(4 * WIDTH, WIDTH), "norm2": norm,
    }  # fmt: skip
    keymap = na.Container({"0": block, "1": block}).match(other)
    modules = {}
    for i, end in enumerate(("", "_1")):
        modules |= {
            f"{i}/{a}": f"{b}{end}" for a, b in (("q", "query"), ("k", "key"), ("out", "out"))
        }
        modules |= {f"{i}/fc{k}": f"mlp{end}/~/linear_{k - 1}" for k in (1, 2)}
    norms = {
        "0/norm1": "layer_norm", "0/norm2": "layer_norm_1",
        "1/norm1": "layer_norm_2", "1/norm2": "layer_norm_3",
    }  # fmt: skip
    expected = {f"{a}/weight": f"{b}/w" for a, b in modules.items()}
    expected |= {f"{a}/bias": f"{b}/b" for a, b in modules.items()}
    expected |= {f"{a}/weight": f"{b}/scale" for a, b in norms.items()}
    expected |= {f"{a}/bias": f"{b}/offset" for a, b in norms.items()}
    assert named(keymap) == expected


# -- what decides, and what does not -----------------------------------------------------------


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.zeros(shape) for shape in shapes]


def test_nothing_is_guessed() -> None:
    a, b = na.Container(a=np.zeros(3), b=np.zeros(3)), na.Container(x=np.zeros(3), y=np.zeros(3))
    keymap = a.match(b)
    assert keymap.pairs == ()
    assert keymap.ambiguous == {"a": (("x", 0.45), ("y", 0.45)), "b": (("x", 0.45), ("y", 0.45))}
    assert named(a.match(b, known={"a": "y"})) == {"a": "y", "b": "x"}
    assert str(keymap) == (
        "KeyMap: 0 of 2 leaves → 0 of 2\n? a → x (0.45) or y (0.45)\n? b → x (0.45) or y (0.45)"
    )


def test_anonymous_layers_are_ambiguous_only_within_their_block() -> None:
    names = ("query", "key", "value")
    a = na.Container(
        {f"layer{i}": {n: np.zeros((4, 4)) for n in names} | {"up": np.zeros((4, 9))} for i in "01"}
    )
    b = na.Container(
        {
            f"Block_{i}": {f"Dense_{k}": np.zeros((4, 9 if k == 3 else 4)) for k in range(4)}
            for i in "01"
        }
    )
    keymap = a.match(b)
    assert named(keymap) == {"layer0/up": "Block_0/Dense_3", "layer1/up": "Block_1/Dense_3"}
    for source, choices in keymap.ambiguous.items():
        assert {target[:7] for target, _ in choices} == {f"Block_{source[5]}"}
        assert len(choices) == 3
    inverse = keymap.invert()
    assert dict(inverse.ambiguous["Block_1/Dense_0"]).keys() == {f"layer1/{n}" for n in names}


def test_squares_are_transposed_as_the_others_are() -> None:
    square, wide = np.zeros((4, 4)), np.zeros((4, 6))
    a = na.Container(p={"x": square}, q={"x": wide})
    assert [
        len(p.steps) for p in a.match(na.Container(p={"y": square}, q={"y": wide.T})).pairs
    ] == [1, 1]
    assert [len(p.steps) for p in a.match(na.Container(p={"y": square}, q={"y": wide})).pairs] == [
        0,
        0,
    ]
    alone = na.Container(x=square)
    keymap = alone.match(na.Container(y=square))
    assert not keymap.pairs
    assert [str(p.steps) for p in keymap.candidates] == ["()", "(Transpose(axes=(1, 0)),)"]
    assert "transpose [1, 0]" in str(keymap)
    pair = {"q": square, "fc": wide}
    other = {"query": square, "dense": wide.T}
    both = na.Container(pair).match(na.Container(other))
    assert {p.source[0]: len(p.steps) for p in both.pairs} == {"q": 1, "fc": 1}
    mixed = na.Container({**pair, "table": np.zeros((7, 3))})
    both = mixed.match(na.Container({**other, "lookup": np.zeros((7, 3))}))
    assert {p.source[0]: len(p.steps) for p in both.pairs} == {"table": 0, "fc": 1}
    assert list(both.ambiguous) == ["q"]
    by_name = na.Container(weight=square).match(na.Container(kernel=square))
    assert [p.steps[0].axes for p in by_name.pairs] == [(1, 0)]  # type: ignore[union-attr]
    same_name = na.Container(weight=square).match(na.Container(deep={"weight": square}))
    assert [p.steps for p in same_name.pairs] == [()]


def test_min_confidence() -> None:
    a, b = na.Container(x=np.zeros(3), y=np.zeros(3)), na.Container(bias=np.zeros(3), y=np.zeros(3))
    assert [p.confidence for p in a.match(b).pairs] == [0.8, 1.0]
    keymap = a.match(b, min_confidence=0.9)
    assert named(keymap) == {"y": "y"}
    assert keymap.ambiguous == {"x": (("bias", 0.8),)}
    for wrong in (2, "high"):
        with pytest.raises(ArgumentError) as info:
            a.match(b, min_confidence=wrong)  # type: ignore[arg-type]
        assert str(info.value) == (
            f"match: min_confidence: got {wrong!r}, expected a number from 0 to 1"
        )


def test_blocks_that_are_not_quite_alike() -> None:
    block = {"up": np.zeros((4, 9)), "down": np.zeros((9, 4)), "norm": np.zeros(4)}
    a = na.Container({f"h{i}": dict(block) for i in range(4)}).set("h2/more", np.zeros(4))
    b = na.Container({f"layer_{i + 1}": {k.upper(): v for k, v in block.items()} for i in range(4)})
    names = named(a.match(b.set("layer_1/extra", np.zeros(9))))
    for i in (0, 1, 3):
        assert names[f"h{i}/up"] == f"layer_{i + 1}/UP"
        assert names[f"h{i}/norm"] == f"layer_{i + 1}/NORM"
    assert names["h2/down"] == "layer_3/DOWN"


def test_other_leaves_than_arrays() -> None:
    a = na.Container(name="a", n=None, step=3, w=np.zeros(2), key=np.zeros(2, "uint32"))
    b = na.Container(
        k=np.zeros(2, "uint32"), v=np.zeros(2), count=np.asarray(3), title="b", no=None
    )
    assert named(a.match(b)) == {
        "name": "title", "n": "no", "step": "count", "w": "v", "key": "k",
    }  # fmt: skip
    empty = na.Container().match(na.Container())
    assert empty.apply(na.Container()).to_dict() == {}
    assert named(na.Container(np.zeros(2)).match(na.Container(x=np.zeros(2)))) == {"": "x"}


def test_dtypes_are_looked_at() -> None:
    a = na.Container(x=np.zeros(2, "float32"), i=np.zeros(2, "int32"))
    b = na.Container(j=np.zeros(2, "int64"), y=np.zeros(2, "float16"))
    keymap = a.match(b)
    assert named(keymap) == {"x": "y", "i": "j"}
    assert keymap.apply(a)["y"].dtype == "float32"


def test_known_paths() -> None:
    a = na.Container(e=[np.zeros((2, 3)), np.zeros((2, 3))], d={"w": np.zeros((2, 3))})
    b = na.Container(x={"p": np.zeros((3, 2)), "q": np.zeros((3, 2))}, y=np.zeros((3, 2)))
    keymap = a.match(b, known={"e": "x", "e/0": "x/q"})
    assert {p.source: p.target for p in keymap.pairs} == {
        ("e", 0): ("x", "q"), ("e", 1): ("x", "p"), ("d", "w"): ("y",),
    }  # fmt: skip
    with pytest.raises(PathError, match="no 'x/r': no key 'r' under 'x'"):
        a.match(b, known={"e/0": "x/r"})
    with pytest.raises(ArgumentError) as info:
        a.match(b, known={"e/0": "x"})
    assert str(info.value) == "match: known: 'e/0' → 'x': 'e/0' is a leaf and 'x' is a node"
    with pytest.raises(ArgumentError) as info:
        a.match(b, known={"e/0": "y", "e/1": "y"})
    assert str(info.value) == (
        "match: known: 'e/1' → 'y': one of them has another partner in `known`"
    )
    with pytest.raises(ShapeError) as info:
        a.match(b.set("y", np.zeros(5)), known={"e/0": "y"})
    assert str(info.value) == (
        "match: known: 'e/0' has the shape (2, 3), 'y' (5,); one is not the other transposed or "
        "reshaped"
    )
    with pytest.raises(ArgumentError, match=r"^match: known: got list, expected a dict of paths"):
        a.match(b, known=[("e/0", "y")])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^match: other: got dict, expected a Container"):
        a.match({})  # type: ignore[arg-type]


WORDS = ["alpha", "gate", "conv", "norm", "query", "value", "out", "mlp"]


@given(
    st.recursive(
        st.lists(st.integers(1, 5), max_size=3).map(tuple),
        lambda inner: st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=4),
        max_leaves=12,
    ),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_equal_names_in_another_order(tree: Any, blocks: int, random: Any) -> None:
    def shuffled(node: Any) -> Any:
        if not isinstance(node, dict):
            return np.zeros(node)
        keys = list(node)
        random.shuffle(keys)
        return {key: shuffled(node[key]) for key in keys}

    whole = {f"block{i}": tree for i in range(blocks)}
    a, b = na.Container(shuffled(whole)), na.Container(shuffled(whole))
    keymap = a.match(b)
    assert {p.source: p.target for p in keymap.pairs} == {path: path for path in a.spec.paths}
    assert all(p.steps == () for p in keymap.pairs)
    assert_same(keymap.apply(a), keymap.apply(a).map(lambda x: x))
    assert keymap.apply(a).spec is b.spec


@given(
    st.lists(st.sampled_from([(2,), (3,), (2, 3)]), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_names_that_say_nothing_leave_equal_shapes_open(shapes: Any, random: Any) -> None:
    old = ["mu", "zed", "pix", "jot", "rim", "fad", "lux", "nib"][: len(shapes)]
    new = ["yaw", "hob", "tiv", "gax", "cud", "sel", "wug", "bok"][: len(shapes)]
    order = list(range(len(shapes)))
    random.shuffle(order)
    a = na.Container({old[i]: np.zeros(shape) for i, shape in enumerate(shapes)})
    b = na.Container({new[i]: np.zeros(shapes[i]) for i in order})
    for pair in a.match(b).pairs:
        shape = a[pair.source[0]].shape
        assert b[pair.target[0]].shape == shape
        assert shapes.count(shape) == 1 or pair.confidence <= 0.7


@pytest.mark.full
def test_ten_thousand_leaves() -> None:
    block = {n: {"weight": np.zeros((4, 6)), "bias": np.zeros(4)} for n in ("q", "k", "v", "o")}
    other = {
        n: {"kernel": np.zeros((6, 4)), "bias": np.zeros(4)}
        for n in ("key", "out", "query", "value")
    }
    a = na.Container(layers=[block] * 1250)
    b = na.Container({f"h_{i}": other for i in range(1250)})
    keymap = a.match(b)
    assert len(keymap.pairs) == 10_000
    assert len(str(keymap).splitlines()) == 9
    assert all(int(str(p.target[0])[2:]) == p.source[1] for p in keymap.pairs)

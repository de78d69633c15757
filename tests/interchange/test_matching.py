"""match: models of torch, Flax and Haiku that name the same parameters differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import StructureError
from tests.trees import assert_identical

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
    assert_identical(keymap.invert().apply(made), source)


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
        "path: target path}) or in the saved file, give the models (source=, target=) if layouts "
        "are undecided, or leave these out with strict=False"
    )
    known = {
        f"encoder/layer/{i}/output/LayerNorm": f"params/layers_{i}/ln_2" for i in range(LAYERS)
    }
    assert named(bert.match(other, known=known)) == right


def test_fused_projections_of_a_transformer() -> None:
    import torch

    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH)
    encoder = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    keymap = na.Container.from_torch_module(encoder).match(flax_encoder(heads=True))
    names = named(keymap)
    assert names["layers/1/norm1/weight"] == "params/layers_1/ln_1/scale"
    assert names["layers/2/linear2/weight"] == "params/layers_2/fc2/kernel"
    assert names["layers/0/self_attn/out_proj/weight"] == "params/layers_0/attn/out/kernel"
    fused = ("layers", "1", "self_attn", "in_proj_weight")
    parts = {p.target[-2]: str(p.steps[0]) for p in keymap.pairs if p.source == fused}
    assert parts == {"query": "[0:8]", "key": "[8:16]", "value": "[16:24]"}
    assert not keymap.unmatched[0]
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

"""Caches of `transformers` as inputs and outputs of graphs."""

from __future__ import annotations

import copy
import itertools

import pytest
import torch
import transformers

import nestarray as na
from nestarray.errors import ArgumentError, ConversionError
from nestarray.testing import assert_close
from tests.decoding.decoder import CACHE

SIZES = {
    "vocab_size": 37,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).eval()


def mistral():
    config = transformers.MistralConfig(**SIZES, sliding_window=4)
    return transformers.MistralForCausalLM(config).eval()


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def tokens_and_cache(model, make, length, **inputs):
    tokens = torch.randint(0, 37, (2, 24))
    cache = make(config=model.config)
    model(tokens[:, :length], **{CACHE: cache}, **inputs)
    return tokens, cache


def nest_of(cache):
    return na.Container.from_torch_cache(cache)


def assert_steps(model, graph, tokens, cache, *, start, backend="torch", count=4, **inputs):
    """The graph, step by step from its own cache, has the logits of the module."""
    nest = na.to_backend(nest_of(copy.deepcopy(cache)), backend)  # the module writes into its own
    moved = {name: na.to_backend(x, backend) for name, x in inputs.items()}
    graph = graph.to_backend(backend)
    step = graph.compile() if backend == "jax" else graph
    for i in range(count):
        token = tokens[:, start + i : start + i + 1]
        logits = model(token, **{CACHE: cache}, **inputs).logits
        out = step(input_ids=na.to_backend(token, backend), **{CACHE: nest}, **moved)
        assert_close(na.to_backend(out["logits"], "torch"), logits)
        nest = out[CACHE]


@pytest.mark.release
def test_a_static_cache_steps_on_another_backend():
    model = llama()
    static = lambda config: transformers.StaticCache(config=config, max_cache_len=12)  # noqa: E731
    tokens, cache = tokens_and_cache(model, static, 5)
    before = copy.deepcopy(cache)
    graph = na.trace_graph(model, input_ids=tokens[:, :1], **{CACHE: cache})
    assert_close(nest_of(cache), nest_of(before))  # the trace writes into a copy
    assert graph.verify(gradients=False)
    assert_steps(model, graph, tokens, cache, start=5, backend="jax")


def test_a_dynamic_cache_grows_along_an_open_size():
    model = llama()
    tokens, cache = tokens_and_cache(model, transformers.DynamicCache, 5)
    sizes = {"keys": {2: "length"}, "values": {2: "length"}}
    graph = na.trace_graph(
        model, input_ids=tokens[:, :1], **{CACHE: cache}, dynamic={CACHE: {"layers": [sizes]}}
    )
    assert_steps(model, graph, tokens, cache, start=5, backend="numpy")


@pytest.mark.parametrize(
    ("length", "is_masked"),
    [
        pytest.param(2, True, marks=pytest.mark.full),
        pytest.param(2, False, marks=pytest.mark.full),
        pytest.param(7, False, marks=pytest.mark.full),
        pytest.param(7, True, marks=pytest.mark.full),
    ],
)
def test_a_static_window_moves_on(length, is_masked):
    model = mistral()
    static = lambda config: transformers.StaticCache(config=config, max_cache_len=24)  # noqa: E731
    mask = torch.ones(2, 24, dtype=torch.int64)
    mask[0, 0] = 0
    first = {"attention_mask": mask[:, :length]} if is_masked else {}
    tokens, cache = tokens_and_cache(model, static, length, **first)
    inputs = {"attention_mask": mask} if is_masked else {}
    graph = na.trace_graph(model, input_ids=tokens[:, :1], **{CACHE: cache}, **inputs)
    assert (
        "position"
        in graph(input_ids=tokens[:, :1], **{CACHE: nest_of(cache)}, **inputs)[CACHE]["layers"][0]
    )
    assert_steps(model, graph, tokens, cache, start=length, **inputs)


def test_one_graph_reads_the_prompt_and_single_tokens_in_a_window():
    model = mistral()
    static = lambda config: transformers.StaticCache(config=config, max_cache_len=24)  # noqa: E731
    mask = torch.ones(2, 24, dtype=torch.int64)
    mask[0, 0] = 0
    tokens, cache = tokens_and_cache(model, static, 3)
    cache.reset()
    inputs = {"input_ids": tokens[:, :3], "attention_mask": mask}
    graph = na.trace_graph(model, **inputs, **{CACHE: cache}, dynamic={"input_ids": {1: "length"}})
    nest = nest_of(copy.deepcopy(cache))
    for start, stop in itertools.pairwise((0, 6, 7, 8, 11, 12)):
        chunk = tokens[:, start:stop]
        out = graph(input_ids=chunk, attention_mask=mask, **{CACHE: nest})
        # the module compares the mask with its count, unless the mask ends with the chunk
        want = model(chunk, attention_mask=mask[:, :stop], **{CACHE: cache}).logits
        assert_close(out["logits"], want)
        nest = out[CACHE]


@pytest.mark.full
def test_a_dynamic_window_keeps_its_last_tokens():
    model = mistral()
    tokens, cache = tokens_and_cache(model, transformers.DynamicCache, 7)
    graph = na.trace_graph(model, input_ids=tokens[:, :1], **{CACHE: cache})
    assert_steps(model, graph, tokens, cache, start=7)


@pytest.mark.full
def test_a_decoder_with_an_encoder_keeps_both_caches():
    config = transformers.T5Config(
        vocab_size=37, d_model=16, d_kv=4, d_ff=24, num_layers=1, num_heads=4
    )
    model = transformers.T5ForConditionalGeneration(config).eval()
    tokens = torch.randint(0, 37, (2, 7))
    encoded = (model.get_encoder()(tokens).last_hidden_state,)
    cache = transformers.EncoderDecoderCache(
        transformers.StaticCache(config=config, max_cache_len=8),
        transformers.DynamicCache(config=config),
    )
    model(decoder_input_ids=tokens[:, :1], encoder_outputs=encoded, **{CACHE: cache})
    graph = na.trace_graph(
        model, decoder_input_ids=tokens[:, :1], encoder_outputs=encoded, cache=cache
    )
    nest = nest_of(copy.deepcopy(cache))
    for i in range(3):
        token = tokens[:, i : i + 1]
        out = graph(decoder_input_ids=token, encoder_outputs=encoded, **{CACHE: nest})
        want = model(decoder_input_ids=token, encoder_outputs=encoded, **{CACHE: cache}).logits
        assert_close(out["logits"], want)
        nest = out[CACHE]


def test_a_quantized_cache_is_refused():
    model = llama()
    cache = transformers.cache_utils.QuantizedCache("fp8", model.config)
    tokens = torch.zeros(1, 1, dtype=torch.int64)
    with pytest.raises(
        ConversionError, match="trace_graph: Fp8QuantizedLayer holds quantized keys"
    ):
        na.trace_graph(model, input_ids=tokens, **{CACHE: cache})


def test_other_objects_are_no_caches():
    with pytest.raises(ArgumentError, match="cache: got dict, expected a Cache of transformers"):
        na.Container.from_torch_cache({})

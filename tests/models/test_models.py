"""Real model types of `transformers`: outputs and gradients equal torch's on every backend."""

from __future__ import annotations

import re
from importlib.util import find_spec

import jax
import pytest

import nestarray as na
from nestarray.errors import ConversionError, ShapeError
from tests import models

_ALWAYS = ("bert", "gpt2", "t5")


_NEEDS_TIMM = pytest.mark.skipif(
    find_spec("timm") is None,
    reason="TimmWrapperModel requires https://github.com/huggingface/pytorch-image-models",
)


_NAMES = tuple(name for name in models.NAMES if name not in models.FLOAT64_ONLY)


def _names(names=_NAMES, always=_ALWAYS):
    return [pytest.param(n, marks=_marks(n, n in always)) for n in names]


def _marks(name, is_fast):
    marks = [] if is_fast else [pytest.mark.full]
    marks += [pytest.mark.release] if name == "bert" else []
    return [*marks, _NEEDS_TIMM] if name == "timm_wrapper" else marks


def _assert_agrees(graph, backend, **inputs):
    # JAX would else compile each call of each model
    is_compiled = backend == "jax" and models.compiles(graph)
    # with verify's own tolerances: it looks at what rounding decides, a gradient that is zero or
    # the side of a kink that a number is on
    report = graph.to_backend(backend).verify(compiled=is_compiled, **inputs)
    assert report.ok, str(report)
    assert report.outputs
    assert len(report.gradients) == len(graph.v.leaves())


@pytest.mark.parametrize("name", _names())
def test_outputs_and_gradients(name):
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs)
    assert models.error_beside_module(graph, module, inputs) <= 1e-5
    for backend in ("jax", "tensorflow", "numpy"):
        _assert_agrees(graph, backend)


@pytest.mark.parametrize(
    "name", _names([n for n in _NAMES if n in models.MASKED], always=("bert",))
)
def test_padded_tokens_on_a_graph_that_was_traced_without(name):
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs)
    padded = models.pad(inputs)
    assert models.error_beside_module(graph, module, padded) <= 1e-5
    for backend in ("jax", "tensorflow"):
        _assert_agrees(graph, backend, **padded)


def _resized(inputs, batch, length):
    """The inputs with other numbers of rows and of tokens."""
    import torch

    torch.manual_seed(10 * batch + length)
    changed = dict(inputs)
    for name, x in inputs.items():
        if isinstance(x, torch.Tensor):
            is_text = "input_ids" in inputs and x.ndim == 2
            shape = (batch, length) if is_text else (batch, *x.shape[1:])
            if x.is_floating_point():
                changed[name] = torch.randn(shape)
            else:
                changed[name] = torch.ones(shape, dtype=x.dtype)
                if "mask" not in name:
                    changed[name] = torch.randint(3, 100, shape)
    return changed


#: Types that draw random numbers in evaluation, other ones than torch.
_DRAWING = ("vit_mae",)
#: Types whose program is another one for a single token, by ``if inputs_embeds.shape[1] == 1``, or for
#: a single row, by ``squeeze()``.
_BRANCHING = (
    "bailing_hybrid",
    "falcon_h1",
    "lfm2",
    "lfm3",
    "minimax",
    "mra",
    "nemotron_h",
    "phimoe",
)
#: Type → the line that no program with open sizes has: a loop or a list of Python over tokens or rows.
_CLOSED = {
    "falcon_mamba": "for index in range(seq_len)",
    "mamba": "for index in range(seq_len)",
    "pixtral": "[(height, width)] * batch_size",
    "recurrent_gemma": "for t in range(hidden_states.shape[1])",
    "reformer": "for i in range(batch_size)",
}


@pytest.mark.full
@pytest.mark.parametrize("example", [(1, 1), (4, 6)], ids=str)
@pytest.mark.parametrize("name", _names([n for n in _NAMES if n not in _DRAWING], always=()))
def test_open_sizes_include_one(name, example):
    import torch

    module, inputs = models.build(name)
    is_text = "input_ids" in inputs
    names = ("target", "length")
    dynamic = {
        key: {0: "batch"} | ({1: names[not key.startswith("decoder")]} if is_text else {})
        for key, x in inputs.items()
        if isinstance(x, torch.Tensor)
    }
    if name in _CLOSED or (name, example) == ("mra", (1, 1)):
        line = _CLOSED.get(name, "needs batch != 1: modeling_mra.py")
        with pytest.raises(ConversionError, match=re.escape(line)):
            na.trace_graph(module, dynamic=dynamic, **_resized(inputs, *example))
        return
    graph = na.trace_graph(module, dynamic=dynamic, **_resized(inputs, *example))
    for batch in (1, 2, 5):
        for length in (1, 2, 7) if is_text else (1,):
            changed = _resized(inputs, batch, length)
            try:
                assert models.error_beside_module(graph, module, changed) <= 1e-4
            except ShapeError as error:  # with the line that asks for the size
                condition = r"(length|batch) ([!=]= 1|>= \d).*\.py:\d+"
                if name not in _BRANCHING or not re.search(condition, str(error)):
                    raise


# speech models draw the masks of their inputs by NumPy
@pytest.mark.filterwarnings("ignore:.* draws random numbers by NumPy")
@pytest.mark.parametrize(
    "name", _names([n for n in _NAMES if n not in models.WITHOUT_TRAINING], always=("bert",))
)
def test_training_mode(name):
    module, inputs = models.build(name)
    # float32 does not determine statistics of the few numbers that small images leave
    is_double = any("BatchNorm" in type(m).__name__ for m in module.modules())
    with jax.enable_x64(is_double):
        if is_double:
            module, inputs = models.build_double(name)
        graph = na.trace_graph(module, **inputs, train=True)
        for backend in ("jax", "tensorflow"):
            _assert_agrees(graph, backend)


@pytest.mark.parametrize(
    "name", _names([n for n in models.NAMES if n not in models.FLOAT32_ONLY], always=())
)
def test_double_precision(name, x64):
    module, inputs = models.build_double(name)
    graph = na.trace_graph(module, **inputs)
    for backend in ("jax", "tensorflow", "numpy"):
        _assert_agrees(graph, backend)


@pytest.mark.full
@pytest.mark.parametrize("name", ["glpn", "levit", "mobilevit", "segformer"])
def test_transposes_on_tensorflow_are_the_modules_own(name):
    """Attention among convolutions transposes by itself: the layout adds nothing to that."""
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs).to_backend("tensorflow")
    own, left = graph.report(), graph.optimize().report()
    assert own.hidden_transposes > 0
    assert left.hidden_transposes == 0
    assert left.transposes < own.transposes

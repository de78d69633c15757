"""Every function of the TensorFlow frontend is compared with TensorFlow, by an expression or a test."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

import nestarray.frontends.tensorflow as frontend
from tests.frontends import (
    test_keras_ops,
    test_tensorflow_image,
    test_tensorflow_integers,
    test_tensorflow_linalg,
    test_tensorflow_math,
    test_tensorflow_nn,
    test_tensorflow_random,
    test_tensorflow_raw_ops,
    test_tensorflow_signal,
    test_tensorflow_sparse,
    test_tensorflow_top_level,
)
from tests.frontends.expressions import names_in
from tools.releases.tensorflow import FRONTEND, public_names

#: Namespace → its expressions, whose values and gradients are compared on all backends.
EXPRESSIONS: dict[str, Sequence[str]] = {
    "": test_tensorflow_top_level.EXPRESSIONS,
    "math": test_tensorflow_math.EXPRESSIONS,
    "math.special": test_tensorflow_math.SPECIAL,
    "nn": test_tensorflow_nn.EXPRESSIONS,
    "linalg": test_tensorflow_linalg.EXPRESSIONS,
    "signal": test_tensorflow_signal.EXPRESSIONS,
    "image": test_tensorflow_image.EXPRESSIONS,
    "random": [],
    "random.experimental": [],
    "bitwise": test_tensorflow_integers.BITWISE,
    "quantization": test_tensorflow_integers.QUANTIZATION,
    "sets": test_tensorflow_sparse.SETS,
    "sparse": test_tensorflow_sparse.EXPRESSIONS,
    "raw_ops": test_tensorflow_raw_ops.EXPRESSIONS,
}
#: Namespace → functions without an expression (checks, draws, no kernel for CPUs) and their tests.
TESTS: dict[str, dict[Callable[..., Any], str]] = {
    "": {
        test_tensorflow_top_level.test_checks_of_values: "Assert assert_equal assert_greater "
        "assert_less assert_rank",
        test_tensorflow_top_level.test_shapes_dtypes_and_stacks_without_a_kernel: "as_dtype "
        "broadcast_static_shape parallel_stack",
    },
    "math": {test_tensorflow_math.test_the_smallest_elements: "approx_min_k"},
    "nn": {
        test_tensorflow_nn.test_dropout_keeps_the_mean_and_shares_the_mask: "dropout",
        test_tensorflow_nn.test_counts_of_classes_are_those_of_upstream: "learned_unigram_candidate_sampler",
        test_tensorflow_nn.test_windows_of_random_sizes: "fractional_avg_pool fractional_max_pool",
        test_tensorflow_nn.test_sampled_classes_are_as_frequent_as_expected: "fixed_unigram_candidate_sampler",
        test_tensorflow_nn.test_rows_for_sparse_ids: "embedding_lookup_sparse safe_embedding_lookup_sparse",
    },
    "signal": {
        test_tensorflow_signal.test_transforms_of_several_axes: "fftnd ifftnd irfftnd rfftnd"
    },
    "image": {
        test_tensorflow_image.test_changes_of_a_key: "random_flip_left_right random_flip_up_down "
        "random_brightness random_contrast random_hue random_saturation random_crop",
        test_tensorflow_image.test_random_parts_cover_a_box: "sample_distorted_bounding_box",
    },
    "random": {
        test_tensorflow_nn.test_expected_counts_of_sampled_classes: "uniform_candidate_sampler "
        "log_uniform_candidate_sampler",
        test_tensorflow_random.test_philox_numbers: "stateless_uniform stateless_normal "
        "stateless_truncated_normal",
        test_tensorflow_random.test_seeds: "split fold_in",
        test_tensorflow_random.test_samplers: "stateless_gamma stateless_poisson "
        "stateless_binomial stateless_categorical",
        test_tensorflow_random.test_functions_of_a_key: "uniform normal truncated_normal gamma "
        "poisson categorical shuffle",
        test_tensorflow_random.test_parameterized_truncated_normal_has_the_distribution: ""
        "stateless_parameterized_truncated_normal",
    },
    "random.experimental": {
        test_tensorflow_random.test_shuffles: "stateless_shuffle",
        test_tensorflow_random.test_index_shuffle: "index_shuffle",
    },
    "raw_ops": {
        test_tensorflow_raw_ops.test_draws_have_shape_dtype_and_mean_of_upstream: ""
        "Multinomial ParameterizedTruncatedNormal RandomGamma RandomPoissonV2 RandomShuffle "
        "RandomStandardNormal RandomUniform RandomUniformInt SampleDistortedBoundingBox "
        "SampleDistortedBoundingBoxV2 StatelessParameterizedTruncatedNormal TruncatedNormal "
        "UniformCandidateSampler",
        test_tensorflow_raw_ops.test_draws_are_those_of_the_public_functions: "FractionalAvgPool "
        "FractionalMaxPool FixedUnigramCandidateSampler LogUniformCandidateSampler",
        test_tensorflow_raw_ops.test_prevented_gradient: "PreventGradient",
        test_tensorflow_raw_ops.test_parts_that_are_replaced_are_within_the_array: ""
        "XlaDynamicUpdateSlice",
    },
}


def _functions(space: str) -> dict[str, Any]:
    """Our functions and classes of a namespace; of `raw_ops`, the operations."""
    found = public_names(FRONTEND, space)
    is_named = str.isidentifier if space != "raw_ops" else lambda name: name[0].isupper()
    return {n: f for n, f in found.items() if inspect.isroutine(f) and is_named(n)}


def _tested(space: str) -> set[str]:
    """The names of a namespace that have an expression or a test."""
    by_expression = {name for row in EXPRESSIONS[space] for name in names_in(row)}
    return by_expression | {n for names in TESTS.get(space, {}).values() for n in names.split()}


def test_every_function_is_compared_with_upstream() -> None:
    # a function may have a name in several namespaces
    functions = {space: _functions(space) for space in EXPRESSIONS}
    tested = {id(own[n]) for space, own in functions.items() for n in own.keys() & _tested(space)}
    missing = {
        f"{space}.{name}"
        for space in functions
        for name, function in functions[space].items()
        if id(function) not in tested
    }
    assert missing == set()


@pytest.mark.parametrize(
    ("test", "names"), [row for tests in TESTS.values() for row in tests.items()]
)
def test_the_file_of_a_test_names_its_functions(test: Callable[..., Any], names: str) -> None:
    text = inspect.getsource(sys.modules[test.__module__])
    assert [name for name in names.split() if name not in text] == []


def test_every_namespace_is_listed() -> None:
    spaces = {name for name in dir(frontend) if isinstance(getattr(frontend, name), ModuleType)}
    assert spaces <= {*EXPRESSIONS}


@pytest.mark.parametrize(
    "module",
    [
        test_keras_ops, test_tensorflow_image, test_tensorflow_linalg, test_tensorflow_math,
        test_tensorflow_nn, test_tensorflow_raw_ops, test_tensorflow_signal, test_tensorflow_top_level,
    ],
)  # fmt: skip
def test_every_exception_of_gradients_has_an_expression_and_a_reason(module: Any) -> None:
    for beginning, reason in module.NOT_DIFFERENTIATED.items():
        assert reason
        assert any(row.startswith(beginning) for row in module.EXPRESSIONS), beginning

"""The functions of `tf.nn` against TensorFlow."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.arrays import host, on
from tests.frontends import tensorflow_expressions as expressions

UNARY = """crelu elu gelu gelu(x,True) leaky_relu leaky_relu(x,0.3) log_softmax relu relu6(x*4) selu sigmoid silu silu(x,0.7) softmax softplus softsign swish tanh
relu(holes) relu6(holes) relu6(holes*4) elu(holes) selu(holes) leaky_relu(holes) relu(i) relu6(i) gelu(h) l2_normalize zero_fraction(holes) l2_loss
lrn(image,1,0.5,0.3,0.75) local_response_normalization(image,2) top_k(x,2) in_top_k([1,0],x,2) approx_max_k(x,2)"""

ROWS = """
convolution(signal, f1); convolution(image, f2, 2, 'SAME'); convolution(volume, f3, [1, 2, 1], 'SAME', 'NDHWC'); convolution(image, f2, padding='SAME', dilations=2); conv1d(signal, f1, 2, 'SAME'); conv1d(signal, f1, 1, 'VALID', dilations=2)
conv2d(image, f2, 1, 'SAME'); conv2d(image, f2, [1, 2, 1, 1], 'VALID'); conv2d(image, f2, [2, 3], [[0, 0], [1, 2], [0, 1], [0, 0]]); conv2d(image, f2[:, :, :1, :3], 1, 'SAME'); conv2d(image[None], f2, 1, 'VALID'); conv3d(volume, f3, [1, 1, 1, 1, 1], 'VALID'); conv3d(volume, f3, [1, 2, 2, 1, 1], 'SAME')
atrous_conv2d(image, f2, 2, 'SAME'); atrous_conv2d(image, f2, 2, 'VALID'); conv1d_transpose(signal, f1[:, :, :3], [2, 14, 3], 2); conv1d_transpose(signal, f1[:, :, :3], [2, 9, 3], 1, 'VALID'); conv2d_transpose(image, f2[:, :, :, :3], [2, 12, 10, 3], 2)
conv2d_transpose(image, f2[:, :, :, :3], [2, 11, 9, 3], 2, 'SAME'); conv2d_transpose(image, f2[:, :, :, :3], [2, 13, 10, 3], 2, 'VALID'); conv2d_transpose(image, f2[:, :, :, :3], [2, 18, 15, 3], [3, 3], 'SAME'); conv3d_transpose(volume, f3[:, :, :, :, :2], [1, 4, 10, 3, 2], [1, 1, 2, 1, 1])
conv_transpose(signal, f1[:, :, :3], [2, 14, 3], 2); conv_transpose(image, f2[:, :, :, :3], [2, 6, 5, 3], 1, 'SAME'); atrous_conv2d_transpose(image, f2[:, :, :, :3], [2, 6, 5, 3], 2, 'SAME'); depthwise_conv2d(image, f2, [1, 1, 1, 1], 'SAME'); depthwise_conv2d(image, f2[:, :, :, :1], [1, 2, 2, 1], 'VALID')
depthwise_conv2d(image, f2[:, :, :, :2], [1, 1, 1, 1], 'SAME', dilations=[2, 2]); depthwise_conv2d_backprop_input([2, 6, 5, 1], f2[:, :, :1, :3], image, [1, 1, 1, 1], 'SAME')
depthwise_conv2d_backprop_filter(image, [3, 2, 3, 1], image, [1, 1, 1, 1], 'SAME'); separable_conv2d(image, f2[:, :, :, :1], f2[:1, :1], [1, 2, 2, 1], 'SAME'); separable_conv2d(image[:, :, :, :2], f2[:, :, :2, :2], tall[None, None, :1] * w[None, None, :, None], [1, 1, 1, 1], 'VALID', dilations=[2, 2])
bias_add(image, z); bias_add(x, z); dilation2d(image, f2[:, :, :, 0], [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]); dilation2d(image, f2[:, :, :, 0], [1, 2, 1, 1], 'VALID', 'NHWC', [1, 2, 2, 1]); erosion2d(image, f2[:, :, :, 0], [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
with_space_to_batch(image, [2, 2], 'SAME', lambda x, n, p: avg_pool2d(x, 2, 1, p), [2, 2]); with_space_to_batch(image, [1, 1], 'VALID', lambda x, n, p: avg_pool2d(x, 2, 1, p))
max_pool(image, 2, 2, 'VALID'); max_pool(image, [3, 2], [1, 2], 'SAME'); max_pool(signal, 3, 2, 'SAME'); max_pool(volume, 2, 1, 'VALID', 'NDHWC'); max_pool1d(signal, 2, 2, 'VALID'); max_pool1d(signal, 3, 1, 'SAME'); max_pool2d(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME'); max_pool2d(image, 2, 2, [[0, 0], [1, 1], [1, 0], [0, 0]]); max_pool3d(volume, 2, 2, 'SAME')
avg_pool(image, 2, 2, 'VALID'); avg_pool(image, [3, 2], [1, 2], 'SAME'); avg_pool(signal, 3, 2, 'SAME'); avg_pool1d(signal, 2, 2, 'VALID'); avg_pool2d(image, 3, 1, 'SAME'); avg_pool3d(volume, 2, 2, 'SAME'); pool(image, [2, 2], 'MAX'); pool(image, [2, 2], 'AVG', [2, 2], 'SAME'); pool(image, [2, 2], 'MAX', dilations=[2, 2]); pool(image, [2, 2], 'AVG', dilations=[2, 1])
pool(signal, [2], 'AVG'); max_pool_with_argmax(image, 2, 2, 'VALID'); max_pool_with_argmax(image, 3, 2, 'SAME', include_batch_in_index=True); max_pool_with_argmax(image, 2, 1, 'SAME', output_dtype='int32'); depth_to_space(image[:, :, :, :1] * q, 2); space_to_depth(image[:, :, :4], 2); space_to_batch(image, [2, 5], [[1, 1], [0, 0]])
batch_normalization(image, z, z * z, z, z, 1e-3); batch_normalization(x, x * 0.1, x * x, None, None, 1e-3); batch_norm_with_global_normalization(image, z, z * z, z, z, 1e-3, True); batch_norm_with_global_normalization(image, z, z * z, z, z, 1e-3, False)
moments(x, [0]); moments(image, [0, 1, 2], keepdims=True); moments(h, 0); weighted_moments(x, 0, p); weighted_moments(x, [1], p, keepdims=True); sufficient_statistics(x, [0]); sufficient_statistics(t, [0, 1], 0.5, True); normalize_moments(3.0, x, p + x * x, None); normalize_moments(3.0, x, p + x * x, p)
sigmoid_cross_entropy_with_logits(p, x); sigmoid_cross_entropy_with_logits(p, holes); weighted_cross_entropy_with_logits(p, x, 2.0); weighted_cross_entropy_with_logits(p, holes, z * z); softmax_cross_entropy_with_logits(p, x); softmax_cross_entropy_with_logits(p, x, axis=0); sparse_softmax_cross_entropy_with_logits([2, 0], x)
sparse_softmax_cross_entropy_with_logits(i[:, :3] * 0 + 1, t); log_poisson_loss(p * 4, x); log_poisson_loss(p * 4, x, True); compute_average_loss(z, global_batch_size=4); compute_average_loss(z, z * z, 2); compute_average_loss(z); scale_regularization_loss(x)
embedding_lookup(tall, k); embedding_lookup(tall, k, max_norm=1.0); embedding_lookup([tall, tall], k); ctc_loss([[1, 2, 2], [3, 1, 0]], signal[:, :, :1] * w, [3, 2], [7, 6], False, blank_index=0); ctc_loss([[1, 2, 2], [2, 1, 0]], signal[:, :, :1] * w, [3, 2], [7, 6], False, blank_index=-1)
ctc_greedy_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4])[0][0].indices; ctc_greedy_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4])[0][0].values; ctc_greedy_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4])[1]; ctc_greedy_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4], False, 0)[0][0].values; ctc_beam_search_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4], 12, 2)[0][0].indices; ctc_beam_search_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4], 12, 2)[0][1].values; ctc_beam_search_decoder(volume[0, :, :, 0], [4, 2, 3, 4, 4], 12, 2)[1]
ctc_unique_labels([[1, 2, 1, 3, 2], [4, 4, 4, 1, 0]]); collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 4, 4]], [5, 3]); isotonic_regression(x); isotonic_regression(t, False, 1); isotonic_regression(ties)
all_candidate_sampler([[0], [2]], 1, 4, True); compute_accidental_hits([[0, 2], [2, 1]], [2, 3, 1], 2)
sampled_softmax_loss(t[0], z, l[:, None] - 1, t[1, :2], 2, 3, 1, (l - 1, tall[:2, :1] ** 2, v[:2] ** 2)); sampled_softmax_loss(t[0], z, j[:, :2] - 2, t[1, :2], 2, 3, 2, (l - 2, tall[:2] ** 2, v[:2] ** 2), False); nce_loss(t[0], z, l[:, None] - 1, t[1, :2], 2, 3, 1, (l - 1, tall[:2, :1] ** 2, v[:2] ** 2))
"""

EXPRESSIONS = [row if "(" in row else f"{row}(x)" for row in UNARY.split()]
EXPRESSIONS += [row.strip() for row in ROWS.strip().replace("\n", ";").split(";")]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "conv1d(signal, f1, 1, 'VALID', dilations": "upstream has no kernel for CPUs",
    "conv2d(image, f2[:, :, :1, :3]": "upstream has no kernel of groups for CPUs",
    "max_pool_with_argmax(image, 2, 1, 'SAME', output_dtype": "upstream has no kernel for CPUs",
    "isotonic_regression(t": "upstream's derivative fails except for two axes",
}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.nn, frontend.nn, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    is_compared = not expression.startswith(tuple(NOT_DIFFERENTIATED))
    if is_compared and expressions.is_differentiable(expression, tf.nn):
        expressions.assert_gradients(expression, tf.nn, frontend.nn, backend)


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
def test_rows_for_sparse_ids(combiner: str, backend: str) -> None:
    table = expressions.INPUTS["tall"]
    indices = np.asarray([[0, 0], [0, 2], [2, 1]])
    ids, weights = np.asarray([2, 0, 1]), np.asarray([0.5, 2.0, -1.0], "float32")
    theirs = [tf.SparseTensor(indices, values, (4, 3)) for values in (ids, weights)]
    places, shape = on(backend, indices), on(backend, np.asarray((4, 3)))
    ours = [frontend.SparseTensor(places, on(backend, x), shape) for x in (ids, weights)]
    for weighted in (False, True):
        for name in ("embedding_lookup_sparse", "safe_embedding_lookup_sparse"):
            arguments = {"combiner": combiner}
            if name[0] == "s":
                arguments["default_id"] = 1
            want = getattr(tf.nn, name)(
                table, theirs[0], theirs[1] if weighted else None, **arguments
            )
            found = getattr(frontend.nn, name)(
                on(backend, table), ours[0], ours[1] if weighted else None, **arguments
            )
            np.testing.assert_allclose(host(found), want, rtol=1e-6)


def test_dropout_keeps_the_mean_and_shares_the_mask(backend: str) -> None:
    key = on(backend, np.asarray([0, 3], "uint32"))
    x = on(backend, np.ones((200, 40), "float32"))
    found = host(frontend.nn.dropout(x, 0.25, [None, 1], key=key))
    assert {*np.unique(found)} == {0, np.float32(1 / 0.75)}
    assert abs(found.mean() - 1) < 0.15
    assert (found == found[:, :1]).all()
    with pytest.raises(na.errors.ArgumentError, match="dropout: rate: got 1, expected"):
        frontend.nn.dropout(x, 1, key=key)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_sampled_classes_are_as_frequent_as_expected(backend: str) -> None:
    keys = [on(backend, np.asarray([0, n], "uint32")) for n in range(150)]
    truth = on(backend, np.asarray([[0, 2]]))
    for unique in (False, True):
        drawn = [
            frontend.nn.fixed_unigram_candidate_sampler(
                truth, 2, 2, unique, 4, unigrams=[1, 2, 3], num_reserved_ids=1, key=key
            )
            for key in keys
        ]
        samples = [host(found.sampled_candidates) for found in drawn]
        counts = np.bincount(np.concatenate(samples), minlength=4)
        expected = np.mean([host(found.true_expected_count)[0] for found in drawn], axis=0)
        assert counts[0] == 0 == expected[0]
        assert abs(counts[2] / len(keys) - expected[1]) < 0.12
        if unique:
            assert all(len({*sample}) == 2 for sample in samples)


@pytest.mark.parametrize("name", ["uniform_candidate_sampler", "log_uniform_candidate_sampler"])
def test_expected_counts_of_sampled_classes(name: str, backend: str) -> None:
    truth, settings = np.asarray([[0, 3], [5, 1]]), {"num_true": 2, "num_sampled": 40}
    theirs = getattr(tf.random, name)(truth, **settings, unique=False, range_max=7)
    key = on(backend, np.asarray([0, 3], "uint32"))
    ours = getattr(frontend.random, name)(
        on(backend, truth), **settings, unique=False, range_max=7, key=key
    )
    np.testing.assert_allclose(host(ours[1]), theirs[1], rtol=1e-5)
    for found in (ours, theirs):  # a class has one count, among the sampled ones too
        counts = dict(zip(host(found[0]).tolist(), host(found[2]).tolist()))
        np.testing.assert_allclose(
            [counts[int(n)] for n in (0, 1)], host(found[1])[[0, 1], [0, 1]], rtol=1e-5
        )


def test_sampled_losses_draw_classes_with_a_key() -> None:
    x = expressions.INPUTS["t"]
    call = frontend.nn.sampled_softmax_loss
    loss = call(x[0], x[0, :, 0], np.asarray([[0], [2]]), x[1, :2], 2, 3, key=na.random.key(0))
    assert loss.shape == (2,)
    with pytest.raises(na.errors.ArgumentError, match="key: got None"):
        call(x[0], x[0, :, 0], np.asarray([[0], [2]]), x[1, :2], 2, 3)


@pytest.mark.parametrize(("is_pseudo_random", "is_overlapping"), [(True, False), (False, True)])
def test_windows_of_random_sizes(
    is_pseudo_random: bool, is_overlapping: bool, backend: str
) -> None:
    x = np.random.default_rng(0).normal(size=(2, 10, 7, 3)).astype("float32")
    key = on(backend, np.asarray([0, 3], "uint32"))
    settings: dict[str, Any] = {"key": key, "overlapping": is_overlapping}
    for name, reduce in (("fractional_max_pool", np.max), ("fractional_avg_pool", np.mean)):
        found = getattr(frontend.nn, name)(
            on(backend, x), [1.0, 1.4, 1.5, 1.0], is_pseudo_random, **settings
        )
        rows, columns = host(found.row_pooling_sequence), host(found.col_pooling_sequence)
        assert {*np.diff(rows)} == {*np.diff(columns)} == {1, 2}
        assert (rows[0], rows[-1], columns[0], columns[-1]) == (0, 10, 0, 7)
        want = [
            [reduce(x[:, a : b + is_overlapping, c : d + is_overlapping], axis=(1, 2)) for c, d in itertools.pairwise(columns)]
            for a, b in itertools.pairwise(rows)
        ]  # fmt: skip
        want = np.moveaxis(np.asarray(want), 2, 0)
        np.testing.assert_allclose(host(found.output), want, rtol=1e-5, atol=1e-6)
    with pytest.raises(na.errors.ArgumentError, match=r"pooling_ratio: got 0\.5, expected numbers"):
        frontend.nn.fractional_max_pool(on(backend, x), 0.5, key=key)


def test_ctc_loss_of_sparse_labels(backend: str) -> None:
    places, values, shape = [[0, 0], [0, 2], [1, 1]], np.asarray([1, 2, 2], "int32"), [2, 3]
    logits = expressions.INPUTS["signal"].transpose(1, 0, 2)
    lengths = np.asarray([7, 5], "int32")
    labels = tf.SparseTensor(places, values - 1, shape)
    wanted = tf.nn.ctc_loss(labels, logits, None, lengths, blank_index=-1)
    ours = frontend.SparseTensor(places, on(backend, values - 1), shape)
    found = frontend.nn.ctc_loss(
        ours, on(backend, logits), None, on(backend, lengths), blank_index=-1
    )
    np.testing.assert_allclose(host(found), wanted, rtol=1e-5)


def test_counts_of_classes_are_those_of_upstream(backend: str) -> None:
    truth, settings = np.asarray([[0, 1], [0, 3]]), (2, 4, False, 5)
    upstream = tf.function(lambda x: tf.random.learned_unigram_candidate_sampler(x, *settings))
    counts = np.ones(5, "float32")
    for n in range(3):
        key = on(backend, np.asarray([0, n], "uint32"))
        found = frontend.nn.learned_unigram_candidate_sampler(
            on(backend, truth), *settings, key=key, counts=on(backend, counts) if n else None
        )
        np.testing.assert_allclose(host(found[1]), upstream(truth)[1], rtol=1e-5)
        by_class = 4 * counts / counts.sum()
        np.testing.assert_allclose(host(found[2]), by_class[host(found[0])], rtol=1e-5)
        counts += np.bincount(truth.ravel(), minlength=5)


class _Cell:
    """Inputs and state are multiplied; the state has three arrays, of which two are a pair."""

    state_size, output_size = (3, (3, 3)), 3

    def build(self, shape: Any) -> None:
        pass

    def call(self, x: Any, state: Any, scale: float = 1.0) -> Any:
        first, (second, third) = state
        return x * first * scale, (x + first, (x * second, third + 1.0))

    __call__ = call


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("RNNCellResidualWrapper", {}),
        ("RNNCellResidualWrapper", {"residual_fn": lambda inputs, outputs: inputs - 2 * outputs}),
        ("RNNCellDeviceWrapper", {"device": "/cpu:0"}),
    ],
)
def test_wrappers_of_cells(name: str, settings: Any, backend: str) -> None:
    x = expressions.INPUTS["x"]
    upstream = getattr(tf.nn, name)(_Cell(), **settings)
    wanted = upstream(tf.constant(x), (x + 1, (x + 2, x + 3)), scale=0.5)
    wrapper = getattr(frontend.nn, name)(_Cell(), **settings)
    assert (wrapper.state_size, wrapper.output_size) == (upstream.state_size, 3)
    parts = [on(backend, x + n) for n in range(4)]
    found = wrapper(parts[0], (parts[1], (parts[2], parts[3])), scale=0.5)
    for one, other in zip(na.tree.leaves(found), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_allclose(host(one), other, rtol=1e-6)


def _first_of_pairs(state: Any) -> Any:
    is_pair = isinstance(state, tuple) and not isinstance(state[1], tuple)
    return (True, False) if is_pair else True


@pytest.mark.parametrize("is_shared", [False, True])
def test_dropout_of_cells(is_shared: bool, backend: str) -> None:
    key = on(backend, np.asarray([0, 3], "uint32"))
    x = on(backend, np.ones((100, 40), "float32"))
    wrapper = frontend.nn.RNNCellDropoutWrapper(
        lambda x, state: (x, state), 0.75, 0.5, 0.25, is_shared, 40, "float32",
        dropout_state_filter_visitor=_first_of_pairs,
    )  # fmt: skip
    outputs, (first, (second, third)) = wrapper(x, (x, (x, x)), key=key)
    assert third is x
    for found, fraction in ((outputs, 0.75 * 0.5), (first, 0.25), (second, 0.25)):
        found = host(found)
        np.testing.assert_allclose(np.unique(found), [0, 1 / fraction], rtol=1e-6)
        assert (found == found[:1]).all() == is_shared
        assert abs((found != 0).mean() - fraction) < (0.2 if is_shared else 0.03)
    assert (host(first) != host(second)).any()
    wrapper.dropout_state_filter_visitor = lambda state: (True,)
    with pytest.raises(na.errors.ArgumentError, match=r"returned \(True,\), expected a bool or 2"):
        wrapper(x, (x, (x, x)), key=key)

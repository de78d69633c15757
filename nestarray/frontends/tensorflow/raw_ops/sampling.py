"""Random numbers: with a hidden state upstream, which is the argument `key` here, and of a seed.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RandomUniform
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow import candidates, nn, random
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.random import streams
from nestarray.frontends.tensorflow.random.experimental import shuffled_index
from nestarray.frontends.tensorflow.random.rejection import sample_derivative
from nestarray.frontends.tensorflow.random.stateless import scaled, truncated
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "AllCandidateSampler", "ComputeAccidentalHits", "FixedUnigramCandidateSampler",
    "LogUniformCandidateSampler", "Multinomial", "ParameterizedTruncatedNormal", "RandomGamma",
    "RandomGammaGrad", "RandomIndexShuffle", "RandomPoissonV2", "RandomShuffle",
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "StatelessMultinomial",
    "StatelessParameterizedTruncatedNormal", "StatelessRandomBinomial", "StatelessRandomGammaV2",
    "StatelessRandomGammaV3", "StatelessRandomGetAlg", "StatelessRandomGetKeyCounter",
    "StatelessRandomGetKeyCounterAlg", "StatelessRandomNormal", "StatelessRandomNormalV2",
    "StatelessRandomPoisson", "StatelessRandomUniform", "StatelessRandomUniformFullInt",
    "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt", "StatelessRandomUniformIntV2",
    "StatelessRandomUniformV2", "StatelessShuffle", "StatelessTruncatedNormal",
    "StatelessTruncatedNormalV2", "TruncatedNormal", "UniformCandidateSampler",
]  # fmt: skip


def RandomUniform(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Uniform numbers in [0, 1)."""
    return random.uniform(shape, dtype=dtype, key=key)


def RandomUniformInt(
    shape: Ints,
    minval: Array,
    maxval: Array,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array | None = None,
) -> Array:
    """Uniform integers in [minval, maxval)."""
    dtype = dtypes.dtype_of(minval) if hasattr(minval, "dtype") else dtypes.int32
    return random.uniform(shape, minval, maxval, dtype, key=key)


def RandomStandardNormal(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Normal numbers."""
    return random.normal(shape, dtype=dtype, key=key)


def TruncatedNormal(
    shape: Ints, dtype: DType, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Normal numbers between −2 and 2."""
    return random.truncated_normal(shape, dtype=dtype, key=key)


def RandomShuffle(
    value: Array, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """The rows in random order."""
    return random.shuffle(value, key=key)


def Multinomial(
    logits: Array,
    num_samples: int,
    seed: int = 0,
    seed2: int = 0,
    output_dtype: DType = dtypes.int64,
    *,
    key: Array | None = None,
) -> Array:
    """Indices with the probabilities softmax(logits)."""
    return random.categorical(logits, num_samples, output_dtype, key=key)


def ParameterizedTruncatedNormal(
    shape: Ints,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array | None = None,
) -> Array:
    """Normal numbers between limits, one set of parameters for each slice along the first axis."""
    u = random.uniform(shape, dtype=dtypes.dtype_of(means), key=key)
    rows = (-1,) + (1,) * (len(na.shape(u)) - 1)
    mean, deviation, low, high = [na.reshape(x, rows) for x in (means, stdevs, minvals, maxvals)]
    low, high = [na.divide(na.subtract(x, mean), deviation) for x in (low, high)]
    return scaled(truncated(u, low, high), mean, deviation)


def RandomGamma(
    shape: Ints, alpha: Array, seed: int = 0, seed2: int = 0, *, key: Array | None = None
) -> Array:
    """Numbers of the gamma distribution of scale 1, `(*shape, *batch)`."""
    return random.gamma(shape, alpha, dtype=dtypes.dtype_of(alpha), key=key)


def RandomGammaGrad(alpha: Array, sample: Array) -> Array:
    """The derivative by `alpha` of a gamma sample."""
    return sample_derivative(alpha, sample)


def RandomPoissonV2(
    shape: Ints,
    rate: Array,
    seed: int = 0,
    seed2: int = 0,
    dtype: DType = dtypes.int64,
    *,
    key: Array | None = None,
) -> Array:
    """Poisson numbers, `(*shape, *batch)`."""
    return random.poisson(shape, rate, dtype, key=key)


def UniformCandidateSampler(
    true_classes: Array,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array,
) -> candidates.Candidates:
    """Classes below `range_max`, all equally likely."""
    return candidates.uniform_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, key=key
    )


def AllCandidateSampler(
    true_classes: Array,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int = 0,
    seed2: int = 0,
) -> tuple[Array, Array, Array]:
    """All classes, each expected once."""
    return candidates.all_candidate_sampler(true_classes, num_true, num_sampled, unique)


def LogUniformCandidateSampler(
    true_classes: Array,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array,
) -> tuple[Array, Array, Array]:
    """Classes whose probability falls as 1 / class, and how often classes are expected."""
    settings = (num_true, num_sampled, unique, range_max)
    return candidates.log_uniform_candidate_sampler(true_classes, *settings, key=key)


def FixedUnigramCandidateSampler(
    true_classes: Array,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int = 0,
    seed2: int = 0,
    *,
    key: Array,
) -> tuple[Array, Array, Array]:
    """Classes with given frequencies, and how often classes are expected."""
    settings = (num_true, num_sampled, unique, range_max, vocab_file, distortion)
    settings = (*settings, num_reserved_ids, num_shards, shard, unigrams)
    return candidates.fixed_unigram_candidate_sampler(true_classes, *settings, key=key)


def ComputeAccidentalHits(
    true_classes: Array, sampled_candidates: Array, num_true: int, seed: int = 0, seed2: int = 0
) -> tuple[Array, Array, Array]:
    """Rows, positions and weights of the samples that are true classes of a row."""
    return nn.compute_accidental_hits(true_classes, sampled_candidates, num_true)


def StatelessRandomUniform(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Uniform numbers in [0, 1)."""
    return random.stateless_uniform(shape, seed, dtype=dtype)


def StatelessRandomUniformInt(shape: Ints, seed: Array, minval: Array, maxval: Array) -> Array:
    """Uniform integers in [minval, maxval)."""
    dtype = dtypes.dtype_of(minval) if hasattr(minval, "dtype") else dtypes.int32
    return random.stateless_uniform(shape, seed, minval, maxval, dtype)


def StatelessRandomUniformFullInt(shape: Ints, seed: Array, dtype: DType = dtypes.uint64) -> Array:
    """Uniform integers of all bits."""
    return random.stateless_uniform(shape, seed, None, None, dtype)


def StatelessRandomNormal(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Normal numbers."""
    return random.stateless_normal(shape, seed, dtype=dtype)


def StatelessTruncatedNormal(shape: Ints, seed: Array, dtype: DType = dtypes.float32) -> Array:
    """Normal numbers between −2 and 2."""
    return random.stateless_truncated_normal(shape, seed, dtype=dtype)


def StatelessMultinomial(
    logits: Array, num_samples: int, seed: Array, output_dtype: DType = dtypes.int64
) -> Array:
    """Indices with the probabilities softmax(logits)."""
    return random.stateless_categorical(logits, num_samples, seed, output_dtype)


def StatelessParameterizedTruncatedNormal(
    shape: Ints, seed: Array, means: Array, stddevs: Array, minvals: Array, maxvals: Array
) -> Array:
    """Normal numbers between limits; upstream's numbers depend on the number of threads."""
    return random.stateless_parameterized_truncated_normal(
        shape, seed, means, stddevs, minvals, maxvals
    )


def StatelessRandomBinomial(
    shape: Ints, seed: Array, counts: Array, probs: Array, dtype: DType = dtypes.int64
) -> Array:
    """The successes in `counts` trials of probability `probs`."""
    return random.stateless_binomial(shape, seed, counts, probs, dtype)


def StatelessRandomGammaV2(shape: Ints, seed: Array, alpha: Array) -> Array:
    """Numbers of the gamma distribution of scale 1."""
    return random.stateless_gamma(shape, seed, alpha, dtype=dtypes.dtype_of(alpha))


def StatelessRandomPoisson(shape: Ints, seed: Array, lam: Array, dtype: DType) -> Array:
    """Poisson numbers of the rates `lam`."""
    return random.stateless_poisson(shape, seed, lam, dtype)


def RandomIndexShuffle(index: Array, seed: Array, max_index: Array, rounds: int = 4) -> Array:
    """The places of indices in a permutation of 0 … max_index that a seed of three words determines."""
    return shuffled_index(index, integers(seed), integers(max_index), rounds)


# -- of a key and a counter --------------------------------------------------------------------


def StatelessRandomGetKeyCounter(seed: Array) -> tuple[Array, Array]:
    """The key, uint64 `(1,)`, and the counter, uint64 `(2,)`, of a seed."""
    stream = streams.philox(seed)
    zero = na.zeros_like(stream.key[0])
    key, low, high = [
        na.bitcast(na.stack([*words]), dtypes.uint64)
        for words in (stream.key, (zero, zero), stream.upper)
    ]
    return na.reshape(key, (1,)), na.stack([na.reshape(x, ()) for x in (low, high)])


def StatelessRandomGetAlg() -> Array:
    """The number of the algorithm, which is Philox."""
    return na.full((), streams.Algorithm.PHILOX.value, dtype=dtypes.int32)


def StatelessRandomGetKeyCounterAlg(seed: Array) -> tuple[Array, Array, Array]:
    """The key, the counter and the number of the algorithm."""
    key, counter = StatelessRandomGetKeyCounter(seed)
    return key, counter, na.full((), streams.Algorithm.PHILOX.value, dtype=dtypes.int32, like=key)


def _stream(key: Array, counter: Array, alg: int) -> streams.Philox:
    """The stream from a counter on.

    Raises:
        UnsupportedError: the algorithm is Threefry.
    """
    if streams.algorithm(integers(alg)) is streams.Algorithm.THREEFRY:
        raise UnsupportedError(
            "raw_ops: alg: got 2, Threefry, expected 1, Philox, or 3; the functions of tf.random take a "
            "seed and alg='threefry'"
        )
    words = [na.reshape(na.bitcast(x, dtypes.uint32), (-1,)) for x in (key, counter)]
    first, second = na.unstack(words[0])
    low, high, *upper = na.unstack(words[1])
    return streams.Philox((first, second), (upper[0], upper[1]), (low, high))


def StatelessRandomUniformV2(
    shape: Ints, key: Array, counter: Array, alg: int, dtype: DType = dtypes.float32
) -> Array:
    """Uniform numbers in [0, 1)."""
    stream = _stream(key, counter, alg)
    return random.stateless_uniform(shape, stream, dtype=dtype)


def StatelessRandomUniformIntV2(
    shape: Ints, key: Array, counter: Array, alg: int, minval: Array, maxval: Array
) -> Array:
    """Uniform integers in [minval, maxval)."""
    stream = _stream(key, counter, alg)
    return random.stateless_uniform(shape, stream, minval, maxval, dtypes.dtype_of(minval))


def StatelessRandomUniformFullIntV2(
    shape: Ints, key: Array, counter: Array, alg: int, dtype: DType = dtypes.uint64
) -> Array:
    """Uniform integers of all bits."""
    stream = _stream(key, counter, alg)
    return random.stateless_uniform(shape, stream, None, None, dtype)


def StatelessRandomNormalV2(
    shape: Ints, key: Array, counter: Array, alg: int, dtype: DType = dtypes.float32
) -> Array:
    """Normal numbers."""
    stream = _stream(key, counter, alg)
    return random.stateless_normal(shape, stream, dtype=dtype)


def StatelessTruncatedNormalV2(
    shape: Ints, key: Array, counter: Array, alg: int, dtype: DType = dtypes.float32
) -> Array:
    """Normal numbers between −2 and 2."""
    stream = _stream(key, counter, alg)
    return random.stateless_truncated_normal(shape, stream, dtype=dtype)


def StatelessRandomGammaV3(
    shape: Ints, key: Array, counter: Array, alg: int, alpha: Array
) -> Array:
    """Numbers of the gamma distribution of scale 1."""
    stream = _stream(key, counter, alg)
    return random.stateless_gamma(shape, stream, alpha, dtype=dtypes.dtype_of(alpha))


def StatelessShuffle(value: Array, key: Array, counter: Array, alg: int) -> Array:
    """The slices along axis 0 in random order."""
    stream = _stream(key, counter, alg)
    return random.experimental.stateless_shuffle(value, stream)

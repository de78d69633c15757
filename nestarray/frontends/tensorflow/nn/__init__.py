"""Functions of neural networks.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn
"""

from nestarray.frontends.tensorflow.blocks import space_to_batch as space_to_batch
from nestarray.frontends.tensorflow.candidates import all_candidate_sampler as all_candidate_sampler
from nestarray.frontends.tensorflow.candidates import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from nestarray.frontends.tensorflow.candidates import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from nestarray.frontends.tensorflow.math.normalization import *
from nestarray.frontends.tensorflow.math.ordering import approx_max_k as approx_max_k
from nestarray.frontends.tensorflow.math.ordering import approx_min_k as approx_min_k
from nestarray.frontends.tensorflow.math.ordering import in_top_k as in_top_k
from nestarray.frontends.tensorflow.math.ordering import top_k as top_k
from nestarray.frontends.tensorflow.math.reduction import zero_fraction as zero_fraction
from nestarray.frontends.tensorflow.nn.activations import *
from nestarray.frontends.tensorflow.nn.blocks import *
from nestarray.frontends.tensorflow.nn.convolution import *
from nestarray.frontends.tensorflow.nn.embedding import *
from nestarray.frontends.tensorflow.nn.fractional_pooling import *
from nestarray.frontends.tensorflow.nn.losses import *
from nestarray.frontends.tensorflow.nn.normalization import *
from nestarray.frontends.tensorflow.nn.pooling import *
from nestarray.frontends.tensorflow.nn.recurrent import *
from nestarray.frontends.tensorflow.nn.sampling import *
from nestarray.frontends.tensorflow.nn.sequences import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

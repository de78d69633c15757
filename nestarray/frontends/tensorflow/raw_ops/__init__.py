"""The operations of concrete functions, by their types.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops
"""

from nestarray.frontends.tensorflow.raw_ops.audio import *
from nestarray.frontends.tensorflow.raw_ops.contraction import *
from nestarray.frontends.tensorflow.raw_ops.convolution import *
from nestarray.frontends.tensorflow.raw_ops.elementwise import *
from nestarray.frontends.tensorflow.raw_ops.fourier import *
from nestarray.frontends.tensorflow.raw_ops.gradients import *
from nestarray.frontends.tensorflow.raw_ops.images import *
from nestarray.frontends.tensorflow.raw_ops.indexing import *
from nestarray.frontends.tensorflow.raw_ops.linalg import *
from nestarray.frontends.tensorflow.raw_ops.normalization import *
from nestarray.frontends.tensorflow.raw_ops.ordering import *
from nestarray.frontends.tensorflow.raw_ops.pooling import *
from nestarray.frontends.tensorflow.raw_ops.projection import *
from nestarray.frontends.tensorflow.raw_ops.quantization import *
from nestarray.frontends.tensorflow.raw_ops.recurrent import *
from nestarray.frontends.tensorflow.raw_ops.reduction import *
from nestarray.frontends.tensorflow.raw_ops.sampling import *
from nestarray.frontends.tensorflow.raw_ops.sequences import *
from nestarray.frontends.tensorflow.raw_ops.sets import *
from nestarray.frontends.tensorflow.raw_ops.shaping import *
from nestarray.frontends.tensorflow.raw_ops.sparse import *

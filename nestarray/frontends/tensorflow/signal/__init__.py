"""`tf.signal`: Fourier and cosine transforms, windows, frames and spectra.

Upstream: https://www.tensorflow.org/api_docs/python/tf/signal
"""

from nestarray.frontends.tensorflow.signal.fourier import *
from nestarray.frontends.tensorflow.signal.spectra import *
from nestarray.frontends.tensorflow.signal.windows import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

"""`tf.image`: images with channels last.

Codecs (JPEG, PNG, …) are not functions of arrays and are missing.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image
"""

from nestarray.frontends.tensorflow.image.bounding_boxes import *
from nestarray.frontends.tensorflow.image.colors import *
from nestarray.frontends.tensorflow.image.geometry import *
from nestarray.frontends.tensorflow.image.quality import *
from nestarray.frontends.tensorflow.image.random import *
from nestarray.frontends.tensorflow.image.resizing import *
from nestarray.frontends.tensorflow.image.suppression import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

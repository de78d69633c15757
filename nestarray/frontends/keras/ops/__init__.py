"""The functions of `keras.ops`; its chapters are modules.

Upstream: https://keras.io/api/ops/
"""

from nestarray.frontends.keras.ops import image as image
from nestarray.frontends.keras.ops import linalg as linalg
from nestarray.frontends.keras.ops import nn as nn
from nestarray.frontends.keras.ops import numpy as numpy
from nestarray.frontends.keras.ops.core import *
from nestarray.frontends.keras.ops.linalg import *
from nestarray.frontends.keras.ops.math import *
from nestarray.frontends.keras.ops.nn import *
from nestarray.frontends.keras.ops.numpy import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "image", "linalg", "nn", "numpy")

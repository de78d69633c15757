"""NumPy's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters, dtypes and semantics are upstream's, https://numpy.org/doc/stable/reference.

Example:
    >>> import torch
    >>> from nestarray.frontends import numpy as np
    >>> np.cumsum(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1., 3., 6.])
"""

from numpy import __array_api_version__ as __array_api_version__
from numpy import __array_namespace_info__ as __array_namespace_info__

from nestarray.frontends.numpy import fft as fft
from nestarray.frontends.numpy import lib as lib
from nestarray.frontends.numpy import linalg as linalg
from nestarray.frontends.numpy import random as random
from nestarray.frontends.numpy.creation import *
from nestarray.frontends.numpy.data_types import *
from nestarray.frontends.numpy.elements import *
from nestarray.frontends.numpy.functional import *
from nestarray.frontends.numpy.functions import *
from nestarray.frontends.numpy.grids import *
from nestarray.frontends.numpy.in_place import *
from nestarray.frontends.numpy.reductions import *
from nestarray.frontends.numpy.statistics import *
from nestarray.frontends.numpy.ufuncs import *

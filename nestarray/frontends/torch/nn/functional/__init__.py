"""torch.nn.functional, https://docs.pytorch.org/docs/stable/nn.functional.html."""

from nestarray.frontends.torch.nn.functional.activation import *
from nestarray.frontends.torch.nn.functional.attention import *
from nestarray.frontends.torch.nn.functional.convolution import *
from nestarray.frontends.torch.nn.functional.distance import *
from nestarray.frontends.torch.nn.functional.dropout import *
from nestarray.frontends.torch.nn.functional.grouped import *
from nestarray.frontends.torch.nn.functional.loss import *
from nestarray.frontends.torch.nn.functional.normalization import *
from nestarray.frontends.torch.nn.functional.pooling import *
from nestarray.frontends.torch.nn.functional.sparse import *
from nestarray.frontends.torch.nn.functional.unpooling import *
from nestarray.frontends.torch.nn.functional.vision import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

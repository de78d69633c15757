"""torch.signal, https://docs.pytorch.org/docs/stable/signal.html."""

from nestarray.frontends.torch.signal import windows as windows
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "windows")

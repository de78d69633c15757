"""torch.signal, https://docs.pytorch.org/docs/stable/signal.html."""

from nestarray.frontends.torch import absent as _absent
from nestarray.frontends.torch.signal import windows as windows

_absent.explain(__name__, "windows")

"""torch.signal, https://docs.pytorch.org/docs/stable/signal.html."""

from nestarray.frontends.torch.signal import windows as windows

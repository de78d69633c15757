"""torch.nn: its functions. Layers are `nestarray.nn`."""

from nestarray.frontends.torch.nn import functional as functional

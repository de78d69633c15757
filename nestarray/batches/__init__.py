"""Batches of trees: stacking, batch axes, lazy stacks and updates at an index (``c.at[...]``)."""

from nestarray.batches import at as at
from nestarray.batches import batch_axes as batch_axes
from nestarray.batches import lazy_stack as lazy_stack
from nestarray.batches import rows as rows
from nestarray.batches import stacking as stacking
from nestarray.batches import transposition as transposition

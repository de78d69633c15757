"""What Containers can do that needs ops: a file for each idea, its functions methods of Container.

A function marked `@method` is `Container.<its name>` by being the same function object.
"""

from nestarray.methods import alignment as alignment
from nestarray.methods import arithmetic as arithmetic
from nestarray.methods import at as at
from nestarray.methods import batches as batches
from nestarray.methods import html as html
from nestarray.methods import mapping as mapping
from nestarray.methods import matching as matching
from nestarray.methods import plots as plots
from nestarray.methods import sampling as sampling
from nestarray.methods import stacking as stacking
from nestarray.methods import structure as structure
from nestarray.methods import summary as summary
from nestarray.methods import transposition as transposition

"""The table of all rules, collected from the chapters."""

from nestarray.dispatch import OPS
from nestarray.transforms.autodiff import (
    activations,
    constants,
    contraction,
    convolution,
    elementwise,
    fourier,
    indexing,
    linalg,
    manipulation,
    special,
    statistical,
)
from nestarray.transforms.autodiff.interpreter import RULES

_CHAPTERS = (
    constants, elementwise, activations, special, statistical, manipulation, indexing, contraction,
    convolution, linalg, fourier,
)  # fmt: skip
for _chapter in _CHAPTERS:
    RULES.update(_chapter.RULES)

assert RULES.keys() <= OPS.keys(), sorted(RULES.keys() - OPS.keys())

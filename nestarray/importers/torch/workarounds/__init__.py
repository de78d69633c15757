"""The behaviours of torch that a trace cannot take, and their repairs.

`WORKAROUNDS` lists them in the order in which they apply. Most replace public functions, whose
calls a ``TorchFunctionMode`` sees (`nestarray.importers.torch.trace`); these need no private name.
"""

from __future__ import annotations

from nestarray.importers.torch.workarounds.attention import ATTENTION, FLEX_ATTENTION
from nestarray.importers.torch.workarounds.autograd_functions import AUTOGRAD_FUNCTIONS
from nestarray.importers.torch.workarounds.data_dependent import DATA_DEPENDENT, PYTHON_FUNCTIONS
from nestarray.importers.torch.workarounds.embeddings import MAX_NORM
from nestarray.importers.torch.workarounds.exporter import INFERENCE_MODE, KEYWORDS, LINES, THREADS
from nestarray.importers.torch.workarounds.fake_quantization import FAKE_QUANTIZATION
from nestarray.importers.torch.workarounds.losses import CTC_LOSS, MARGIN_LOSS
from nestarray.importers.torch.workarounds.random_numbers import DISTRIBUTION_CHECKS, GAMMA, SEEDS
from nestarray.importers.torch.workarounds.running_statistics import (
    CUMULATIVE_AVERAGES,
    INSTANCE_NORM,
)
from nestarray.importers.torch.workarounds.sequences import SEQUENCES
from nestarray.importers.torch.workarounds.transformations import CONCATENATION, NORMALIZATIONS
from nestarray.importers.torch.workarounds.value_checks import CHECKS_OF_NUMBERS, VALUE_CHECKS
from nestarray.importers.torch.workarounds.vmap_rules import VMAP_RULES
from nestarray.importers.workarounds import Workaround

WORKAROUNDS: tuple[Workaround, ...] = (
    KEYWORDS,
    THREADS,
    LINES,
    AUTOGRAD_FUNCTIONS,
    INFERENCE_MODE,
    SEEDS,
    SEQUENCES,
    CTC_LOSS,
    CUMULATIVE_AVERAGES,
    INSTANCE_NORM,
    MARGIN_LOSS,
    MAX_NORM,
    DATA_DEPENDENT,
    PYTHON_FUNCTIONS,
    VALUE_CHECKS,
    CHECKS_OF_NUMBERS,
    DISTRIBUTION_CHECKS,
    GAMMA,
    FLEX_ATTENTION,
    FAKE_QUANTIZATION,
    NORMALIZATIONS,
    CONCATENATION,
    VMAP_RULES,
    ATTENTION,
)

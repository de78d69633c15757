"""The behaviours of torch that a trace cannot take, and their repairs.

`WORKAROUNDS` lists them in the order in which they apply. Most replace public functions, whose
calls a ``TorchFunctionMode`` sees (`nestarray.importers.torch.trace`); these need no private name.
"""

from __future__ import annotations

from nestarray.importers.torch.workarounds.attention import ATTENTION
from nestarray.importers.torch.workarounds.autograd_functions import AUTOGRAD_FUNCTIONS
from nestarray.importers.torch.workarounds.concatenation import CONCATENATION
from nestarray.importers.torch.workarounds.ctc_loss import CTC_LOSS
from nestarray.importers.torch.workarounds.data_dependent import DATA_DEPENDENT, PYTHON_FUNCTIONS
from nestarray.importers.torch.workarounds.distributions import DISTRIBUTION_CHECKS, GAMMA
from nestarray.importers.torch.workarounds.exporter import KEYWORDS, LINES, THREADS
from nestarray.importers.torch.workarounds.fake_quantization import FAKE_QUANTIZATION
from nestarray.importers.torch.workarounds.flex_attention import FLEX_ATTENTION
from nestarray.importers.torch.workarounds.inference_mode import INFERENCE_MODE
from nestarray.importers.torch.workarounds.margin_loss import MARGIN_LOSS
from nestarray.importers.torch.workarounds.max_norm_embedding import MAX_NORM
from nestarray.importers.torch.workarounds.normalizations import NORMALIZATIONS
from nestarray.importers.torch.workarounds.running_statistics import (
    CUMULATIVE_AVERAGES,
    INSTANCE_NORM,
)
from nestarray.importers.torch.workarounds.seeded_random import SEEDS
from nestarray.importers.torch.workarounds.sequences import SEQUENCES
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

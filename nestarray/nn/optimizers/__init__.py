"""Optimizers as pairs of pure functions: ``init(v) -> state`` and ``step(v, grads, state)``.

Variables, gradients and states are Containers of one backend, so a step can be compiled
with `na.jit`, stored, moved to another framework and continued there. Results
equal ``optax`` and ``torch.optim``. Leaves that are not floating do not change.

Chains (`ClipByGlobalNorm`, `Accumulate`, `EMA`, ...) are optimizers around an optimizer.

Example:
    >>> import nestarray as na
    >>> from nestarray import nn
    >>> v = na.Container(w=na.ones((2,)))
    >>> optimizer = nn.SGD(0.5)
    >>> v, state = optimizer.step(v, na.Container(w=na.ones((2,))), optimizer.init(v))
    >>> v.w
    array([0.5, 0.5], dtype=float32)
"""

from nestarray.nn.optimizers.adagrad import Adadelta, Adagrad, RMSprop
from nestarray.nn.optimizers.adam import Adam, Adamax, AdamW
from nestarray.nn.optimizers.adam_momentum import Adan, AdEMAMix, NAdam
from nestarray.nn.optimizers.adam_variance import AdaBelief, RAdam, Yogi
from nestarray.nn.optimizers.averaging import EMA, Lookahead
from nestarray.nn.optimizers.chains import (
    Accumulate,
    GradientNoise,
    GradientTransformation,
    OptimizerChain,
    WeightDecay,
)
from nestarray.nn.optimizers.clipping import ClipByGlobalNorm, ClipByNorm, ClipByValue
from nestarray.nn.optimizers.factored import SM3, Adafactor
from nestarray.nn.optimizers.interchange import (
    from_keras_optimizer,
    from_optax,
    from_torch_optimizer,
    to_keras_optimizer,
    to_optax,
    to_torch_optimizer,
)
from nestarray.nn.optimizers.layerwise import LAMB, LARS, NovoGrad
from nestarray.nn.optimizers.lbfgs import LBFGS
from nestarray.nn.optimizers.muon import Muon
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.partition import Partition
from nestarray.nn.optimizers.preconditioned import SOAP, Shampoo
from nestarray.nn.optimizers.prodigy import Prodigy
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.schedule_free import ScheduleFreeAdamW, ScheduleFreeSGD
from nestarray.nn.optimizers.sgd import ASGD, SGD
from nestarray.nn.optimizers.signs import Lion, Rprop

__all__ = [
    "ASGD", "EMA", "LAMB", "LARS", "LBFGS", "SGD", "SM3", "SOAP",
    "Accumulate", "AdEMAMix", "AdaBelief", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW",
    "Adamax", "Adan",
    "ClipByGlobalNorm", "ClipByNorm", "ClipByValue", "GradientNoise", "GradientTransformation",
    "LearningRate", "Lion", "Lookahead", "Muon", "NAdam", "NovoGrad", "Optimizer",
    "OptimizerChain", "Partition", "Prodigy", "RAdam", "RMSprop", "Rprop", "Scale",
    "ScheduleFreeAdamW", "ScheduleFreeSGD", "Shampoo", "WeightDecay", "Yogi",
    "from_keras_optimizer", "from_optax", "from_torch_optimizer", "to_keras_optimizer", "to_optax",
    "to_torch_optimizer",
]  # fmt: skip

"""Transformations of functions: differentiate, map and compile, alike on every backend."""

from nestarray.transforms.batching import vmap as vmap
from nestarray.transforms.compilation import jit as jit
from nestarray.transforms.gradients import execute_with_gradients as execute_with_gradients
from nestarray.transforms.gradients import grad as grad
from nestarray.transforms.gradients import value_and_grad as value_and_grad

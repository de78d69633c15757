"""Transformations of functions: differentiate, map and compile, alike on every backend."""

from nestarray.transforms.associative_scans import associative_scan as associative_scan
from nestarray.transforms.batching import vmap as vmap
from nestarray.transforms.compilation import jit as jit
from nestarray.transforms.control_flow import cond as cond
from nestarray.transforms.control_flow import fori_loop as fori_loop
from nestarray.transforms.control_flow import map as map
from nestarray.transforms.control_flow import scan as scan
from nestarray.transforms.control_flow import switch as switch
from nestarray.transforms.control_flow import while_loop as while_loop
from nestarray.transforms.custom import checkpoint as checkpoint
from nestarray.transforms.custom import custom_jvp as custom_jvp
from nestarray.transforms.custom import custom_vjp as custom_vjp
from nestarray.transforms.gradients import execute_with_gradients as execute_with_gradients
from nestarray.transforms.gradients import grad as grad
from nestarray.transforms.gradients import value_and_grad as value_and_grad
from nestarray.transforms.jacobians import hessian as hessian
from nestarray.transforms.jacobians import jacfwd as jacfwd
from nestarray.transforms.jacobians import jacobian as jacobian
from nestarray.transforms.jacobians import jacrev as jacrev
from nestarray.transforms.products import gauss_newton_vp as gauss_newton_vp
from nestarray.transforms.products import hvp as hvp
from nestarray.transforms.products import jvp as jvp
from nestarray.transforms.products import linear_transpose as linear_transpose
from nestarray.transforms.products import linearize as linearize
from nestarray.transforms.products import vjp as vjp

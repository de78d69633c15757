"""Hold, move and train array models across NumPy, JAX, PyTorch and TensorFlow.

First calls::

    v = na.Container(layer={"w": w, "b": b}, head=[h])   # a tree of arrays
    v["layer/w"], v.layer.w, v.select("**/w")            # look up
    v.set("layer/w", x), v.at["**/b"].add(1.0)           # change a copy
    na.exp(v) - 0.1 * v, na.tree_norm(v)                 # every function takes arrays and trees
    v.map(fn), v.diff(u)                                 # any function; compare two trees
    v.to_backend("jax"), v.save("v.safetensors")         # move and store
    loss, grads = na.value_and_grad(fn)(v)               # also jit, vmap, jvp, scan, …
    graph = na.trace_graph(module, x)                    # a PyTorch module as a program
    graph.to_backend("jax").verify()                     # on another framework, and compared
    net = na.to_module(module, x).to_backend("jax")      # the same as a layer with variables

Parts: `na.nn` (layers, optimizers), `na.random`, `na.graph`, `na.tree` (nests of any kind),
`na.storage` (files), `na.frontends` (functions of other frameworks, under their names),
`na.decoding` (text generation), `na.testing` (comparisons, gradient checks), `na.dtypes`,
`na.errors`.

Functions by chapter; ``help("nestarray.ops.linalg")`` shows one:

    activations, arrangement, attention, bessel, blocks, boxes, colors, complex_numbers,
    contraction, conversion, convolution, convolution_layouts, correlation, creation,
    curves, data_type, distances, elementwise, factorizations, fft, filters, gamma, gates,
    grids, image, image_filters, indexing, linalg, linear_systems, logic, losses,
    manipulation, margin_losses, matrices, nan_reductions, normalization, order_statistics,
    patterns, pooling, pooling_layouts, positions, random, recurrent, regression_losses,
    rejection, representation, resampling, searching, segments, sequence_losses, sets,
    signal, simplex, sorting, special, statistical, transcendental, window_reductions.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray import display as _display  # noqa: F401 - attaches __repr__
from nestarray import lazy_imports as _lazy_imports
from nestarray.array_api import array_namespace as array_namespace
from nestarray.array_api import e as e
from nestarray.array_api import inf as inf
from nestarray.array_api import nan as nan
from nestarray.array_api import newaxis as newaxis
from nestarray.array_api import pi as pi
from nestarray.backends import backend_of as backend_of
from nestarray.batches.lazy_stack import LazyStack as LazyStack
from nestarray.config import current_backend as current_backend
from nestarray.config import set_backend as set_backend
from nestarray.config import use_backend as use_backend
from nestarray.container import Container as Container
from nestarray.dtypes import as_dtype as as_dtype
from nestarray.dtypes import bfloat16 as bfloat16
from nestarray.dtypes import bool as bool
from nestarray.dtypes import can_cast as can_cast
from nestarray.dtypes import complex64 as complex64
from nestarray.dtypes import complex128 as complex128
from nestarray.dtypes import dtype_of as dtype_of
from nestarray.dtypes import finfo as finfo
from nestarray.dtypes import float16 as float16
from nestarray.dtypes import float32 as float32
from nestarray.dtypes import float64 as float64
from nestarray.dtypes import iinfo as iinfo
from nestarray.dtypes import int8 as int8
from nestarray.dtypes import int16 as int16
from nestarray.dtypes import int32 as int32
from nestarray.dtypes import int64 as int64
from nestarray.dtypes import isdtype as isdtype
from nestarray.dtypes import promote_types as promote_types
from nestarray.dtypes import result_type as result_type
from nestarray.dtypes import uint8 as uint8
from nestarray.dtypes import uint16 as uint16
from nestarray.dtypes import uint32 as uint32
from nestarray.dtypes import uint64 as uint64
from nestarray.exporters import keras_registration as _keras_registration  # noqa: F401
from nestarray.interchange.equinox import to_equinox as to_equinox
from nestarray.interchange.flax import to_flax as to_flax
from nestarray.interchange.haiku import to_haiku as to_haiku
from nestarray.interchange.keras import load_into_keras as load_into_keras
from nestarray.interchange.objects import to_object as to_object
from nestarray.interchange.pytrees import to_pytree as to_pytree
from nestarray.interchange.torch import load_into_torch_module as load_into_torch_module
from nestarray.interchange.torch import to_torch_state_dict as to_torch_state_dict
from nestarray.ops import *
from nestarray.transforms import all_gather as all_gather
from nestarray.transforms import associative_scan as associative_scan
from nestarray.transforms import axis_index as axis_index
from nestarray.transforms import axis_size as axis_size
from nestarray.transforms import call_with_jvp as call_with_jvp
from nestarray.transforms import call_with_vjp as call_with_vjp
from nestarray.transforms import checkpoint as checkpoint
from nestarray.transforms import cond as cond
from nestarray.transforms import custom_jvp as custom_jvp
from nestarray.transforms import custom_vjp as custom_vjp
from nestarray.transforms import execute_with_gradients as execute_with_gradients
from nestarray.transforms import fori_loop as fori_loop
from nestarray.transforms import gauss_newton_vp as gauss_newton_vp
from nestarray.transforms import grad as grad
from nestarray.transforms import hessian as hessian
from nestarray.transforms import hvp as hvp
from nestarray.transforms import jacfwd as jacfwd
from nestarray.transforms import jacobian as jacobian
from nestarray.transforms import jacrev as jacrev
from nestarray.transforms import jit as jit
from nestarray.transforms import jvp as jvp
from nestarray.transforms import linear_transpose as linear_transpose
from nestarray.transforms import linearize as linearize
from nestarray.transforms import map as map
from nestarray.transforms import pmax as pmax
from nestarray.transforms import pmean as pmean
from nestarray.transforms import pmin as pmin
from nestarray.transforms import psum as psum
from nestarray.transforms import scan as scan
from nestarray.transforms import switch as switch
from nestarray.transforms import value_and_grad as value_and_grad
from nestarray.transforms import vjp as vjp
from nestarray.transforms import vmap as vmap
from nestarray.transforms import while_loop as while_loop
from nestarray.tree_math.raveling import tree_ravel as tree_ravel
from nestarray.tree_math.reductions import tree_all as tree_all
from nestarray.tree_math.reductions import tree_any as tree_any
from nestarray.tree_math.reductions import tree_dot as tree_dot
from nestarray.tree_math.reductions import tree_max as tree_max
from nestarray.tree_math.reductions import tree_mean as tree_mean
from nestarray.tree_math.reductions import tree_min as tree_min
from nestarray.tree_math.reductions import tree_norm as tree_norm
from nestarray.tree_math.reductions import tree_sum as tree_sum

if _TYPE_CHECKING:
    from nestarray import decoding as decoding
    from nestarray import dtypes as dtypes
    from nestarray import errors as errors
    from nestarray import exporters as exporters
    from nestarray import frontends as frontends
    from nestarray import graph as graph
    from nestarray import nn as nn
    from nestarray import ops as ops
    from nestarray import random as random
    from nestarray import storage as storage
    from nestarray import testing as testing
    from nestarray import tree as tree
    from nestarray import typing as typing
    from nestarray.comparison.diff import Diff as Diff
    from nestarray.comparison.merge import MISSING as MISSING
    from nestarray.comparison.schema import Schema as Schema
    from nestarray.graph import Graph as Graph
    from nestarray.graph import check as check
    from nestarray.graph import trace_graph as trace_graph
    from nestarray.importers.costs import flops as flops
    from nestarray.importers.module import GraphModule as GraphModule
    from nestarray.importers.module import to_module as to_module
    from nestarray.interchange.naming.key_map import KeyMap as KeyMap
    from nestarray.nn.minimization import minimize as minimize
    from nestarray.nn.training import train_step as train_step

_lazy_imports.attach(
    __name__,
    {
        "nestarray": (
            "decoding",
            "dtypes",
            "errors",
            "exporters",
            "frontends",
            "graph",
            "nn",
            "ops",
            "random",
            "storage",
            "testing",
            "tree",
            "typing",
        ),
        "nestarray.graph": ("Graph", "check", "trace_graph"),
        "nestarray.importers.costs": ("flops",),
        "nestarray.importers.module": ("GraphModule", "to_module"),
        "nestarray.nn.minimization": ("minimize",),
        "nestarray.nn.training": ("train_step",),
        "nestarray.interchange.naming.key_map": ("KeyMap",),
        "nestarray.comparison.diff": ("Diff",),
        "nestarray.comparison.merge": ("MISSING",),
        "nestarray.comparison.schema": ("Schema",),
    },
)

_lazy_imports.attach_methods(
    Container,
    {
        "nestarray.comparison.diff": ("diff", "patch"),
        "nestarray.comparison.merge": ("merge",),
        "nestarray.display.plots": ("plot",),
        "nestarray.display.rich_tree": ("__rich__",),
        "nestarray.display.summary": ("describe", "summary"),
        "nestarray.display.tree_html": ("_repr_html_", "to_html"),
        "nestarray.interchange.naming.match": ("match",),
        "nestarray.random.sampling": ("random_like",),
        "nestarray.storage.files": ("load", "save"),
    },
)

_NATIVE_MODULES = (
    "to_equinox_module",
    "to_flax_module",
    "to_haiku_module",
    "to_keras_model",
    "to_linen_module",
    "to_tf_module",
    "to_torch_module",
)
_lazy_imports.attach_methods(
    "nestarray.graph.graph.Graph",
    {
        "nestarray.exporters.export": ("export",),
        "nestarray.exporters.native": _NATIVE_MODULES,
        "nestarray.exporters.source.eject": ("_standalone_source", "eject"),
        "nestarray.graph.census": ("report",),
        "nestarray.graph.files": ("load", "save"),
        "nestarray.graph.lower": ("lower",),
        "nestarray.graph.mixed_precision": ("cast",),
        "nestarray.graph.parsing": ("parse",),
        "nestarray.graph.passes": ("optimize", "passes"),
        "nestarray.graph.viewer.outline": ("__rich__", "_repr_html_"),
        "nestarray.graph.viewer.page": ("show",),
        "nestarray.importers.torch.state_dicts": ("to_torch_state_dict",),
        "nestarray.proof.verify": ("verify",),
    },
)
_lazy_imports.attach_methods(
    "nestarray.graph.node.Call", {"nestarray.graph.files": ("__reduce__",)}
)
_lazy_imports.attach_methods(
    "nestarray.nn.module.Module",
    {
        "nestarray.exporters.native": _NATIVE_MODULES,
    },
)

__version__ = "0.1.0"

_lazy_imports.install()

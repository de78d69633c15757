"""Methods of Graph and `nn.Module` that return modules of other libraries."""

from __future__ import annotations

import importlib
from typing import Any
from weakref import WeakKeyDictionary

from nestarray import backends, lazy_imports, nn
from nestarray.exporters.program import Program, Variables, program_of
from nestarray.graph.graph import Graph

#: model → (backend, its widest float, training graph) → its program, without arrays
_programs: WeakKeyDictionary[Any, dict[Any, Program]] = WeakKeyDictionary()


def _build(
    form: str, library: str, model: Graph | nn.Module, backend: str, training: Any, **settings: Any
) -> Any:
    """The native module that the file of a form builds, such as ``torch_module.py``."""
    extra = library.partition(".")[0]
    lazy_imports.optional(library, f"to_{form} needs", extra=extra)
    file = importlib.import_module(f"nestarray.exporters.{form}")
    return file.build(*_program(model, backend, training), **settings)


def _program(
    model: Graph | nn.Module, backend: str, training: Graph | None
) -> tuple[Program, Variables]:
    """The program of a model and its present variables; Haiku asks for them at each call."""
    if backend == "torch":  # a module of PyTorch, which may change its dtypes, optimizes it itself
        program = program_of(model, backend, training)
        return program, Variables(backend, program.values)
    core = backends.core(backend)
    known = _programs.setdefault(model, {})
    key = (backend, core.widest_float(None), training)  # JAX computes constants in 32 or 64 bits
    with core.outside_of_traces():  # Haiku makes modules while JAX traces
        if key not in known:
            program = program_of(model, backend, training).optimized()
            if not program.graphs:  # an `nn.Module`, which may change
                return program.without_arrays(), Variables(backend, program.values)
            known[key] = program.without_arrays()
        values: dict[str, Any] = {}
        for c in (training.s, model.v, model.s) if training else (model.v, model.s):
            values |= dict(c.to_backend(backend).flat_items())
        return known[key], Variables(backend, values)


def to_torch_module(model: Graph | nn.Module, *, training: Graph | None = None) -> Any:
    """The model as a ``torch.nn.Module`` with its own parameters and buffers.

    A model that came from PyTorch keeps its names, so ``load_state_dict`` takes its checkpoints;
    other models have their paths, with dots, and an underscore after words of Python (``in_``).
    The module starts in evaluation mode; the methods ``train`` and ``eval`` select the behaviour.
    In training a submodule in evaluation mode, ``net.bn1.eval()``, keeps its statistics and
    normalizes by them; dropout depends on the mode of the whole module.
    Buffers are updated in place, random operations draw from PyTorch's generator. Mappings, named
    tuples and dataclasses in the output are dicts. ``forward`` has the parameters of the source, so
    ``torch.export.export(net, (x,), dynamic_shapes={"x": …})`` and ``torch.jit.trace`` take the
    module; ``torch.jit.script`` does not, because it compiles the source text of modules.

    Args:
        training: the training behaviour of a Graph, traced with ``train=True``. Without it
            both modes compute the graph. A module of `na.to_module` has both.

    Returns:
        a ``torch.nn.Module``.

    Raises:
        MissingFrameworkError: PyTorch is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import jax.numpy as jnp, torch, nestarray as na
        >>> from flax import nnx
        >>> source = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        >>> net = na.to_module(source, jnp.ones((4, 2))).to_torch_module()
        >>> net(torch.ones(4, 2)).shape, sorted(net.state_dict())
        (torch.Size([4, 3]), ['params.bias', 'params.kernel'])
    """
    return _build("torch_module", "torch", model, "torch", training)


def to_flax_module(
    model: Graph | nn.Module, *, training: Graph | None = None, rngs: Any = None
) -> Any:
    """The model as a ``flax.nnx.Module``: ``nnx.Param``, ``nnx.BatchStat``, ``nnx.Rngs``.

    Variables are nested as in the source. ``train()`` and ``eval()`` select the behaviour; the
    module starts in evaluation mode. Random operations draw from ``rngs.dropout``.

    Args:
        training: see `to_torch_module`.
        rngs: the random streams; ``nnx.Rngs(0)`` by default, for a model that draws.

    Returns:
        an ``nnx.Module``.

    Raises:
        MissingFrameworkError: Flax is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import jax.numpy as jnp, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> net = graph.to_flax_module()
        >>> net(jnp.ones((4, 2))).shape, net.weight.shape
        ((4, 3), (3, 2))
    """
    return _build("flax_module", "flax.nnx", model, "jax", training, rngs=rngs)


def to_linen_module(model: Graph | nn.Module, *, training: Graph | None = None) -> Any:
    """The model as a ``flax.linen.Module``, whose ``init`` returns the converted weights.

    The state of sources other than Flax is the collection "batch_stats". ``apply(variables, x,
    train=True, mutable=["batch_stats"], rngs={"dropout": key})`` computes the training
    behaviour.

    Args:
        training: see `to_torch_module`.

    Returns:
        a ``flax.linen.Module``.

    Raises:
        MissingFrameworkError: Flax is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import jax, jax.numpy as jnp, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> net, x = graph.to_linen_module(), jnp.ones((4, 2))
        >>> variables = net.init(jax.random.key(0), x)
        >>> net.apply(variables, x).shape, variables["params"]["weight"].shape
        ((4, 3), (3, 2))
    """
    return _build("linen_module", "flax.linen", model, "jax", training)


def to_haiku_module(
    model: Graph | nn.Module, *, training: Graph | None = None, name: str | None = None
) -> Any:
    """The model as a ``haiku.Module``; call it inside of ``hk.transform``.

    Outside of a transform, the result is a function for use in transforms: each run makes its
    module at the first call, and all calls of the run share its parameters.
    ``init`` returns the converted weights, under the paths of the source. A call with
    ``is_training=True`` computes the training behaviour: it sets the state, so use
    ``hk.transform_with_state``, and draws from ``hk.next_rng_key``.

    Args:
        training: see `to_torch_module`.
        name: of the Haiku module; the name of the source by default.

    Returns:
        an ``hk.Module``; outside of a transform, a function that makes it.

    Raises:
        MissingFrameworkError: Haiku is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import haiku as hk, jax, jax.numpy as jnp, torch, nestarray as na
        >>> layer = na.to_module(torch.nn.Linear(2, 3), torch.ones(4, 2)).to_haiku_module()
        >>> net = hk.transform(lambda x: layer(x))
        >>> params = net.init(None, jnp.ones((4, 2)))
        >>> net.apply(params, None, jnp.ones((4, 2))).shape, sorted(params["linear"])
        ((4, 3), ['bias', 'weight'])
    """
    return _build("haiku_module", "haiku", model, "jax", training, name=name)


def to_equinox_module(
    model: Graph | nn.Module, *, training: Graph | None = None, with_state: bool = True
) -> Any:
    """The model as an ``equinox.Module``: a pytree of its parameters, and a static program.

    ``module.v`` holds the parameters, nested as in the source. ``eqx.nn.inference_mode``
    selects the behaviour; the module starts in inference mode. Random operations take
    ``key=``.

    Args:
        training: see `to_torch_module`.
        with_state: False returns the module alone, as a layer of a larger module that
            ``eqx.nn.make_with_state`` makes.

    Returns:
        an ``eqx.Module``. For a model with state ``(module, state)``, as of
        ``eqx.nn.make_with_state``: ``output, state = module(x, state)``.

    Raises:
        MissingFrameworkError: Equinox is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import jax.numpy as jnp, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> net = graph.to_equinox_module()
        >>> net(jnp.ones((4, 2))).shape, net.v["weight"].shape
        ((4, 3), (3, 2))
    """
    return _build("equinox_module", "equinox", model, "jax", training, with_state=with_state)


def to_tf_module(model: Graph | nn.Module, *, training: Graph | None = None) -> Any:
    """The model as a ``tf.Module`` with its own variables.

    A call is a ``tf.function``; ``training=True`` selects the training behaviour, which
    assigns the state and draws from TensorFlow's generator.

    Args:
        training: see `to_torch_module`.

    Returns:
        a ``tf.Module``.

    Raises:
        MissingFrameworkError: TensorFlow is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import tensorflow as tf, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> net = graph.to_tf_module()
        >>> net(tf.ones((4, 2))).shape, [v.name for v in net.trainable_variables]
        (TensorShape([4, 3]), ['bias:0', 'weight:0'])
    """
    return _build("tf_module", "tensorflow", model, "tensorflow", training)


def to_keras_model(model: Graph | nn.Module, *, training: Graph | None = None) -> Any:
    """The model as a ``keras.Model`` on Keras' active backend (TensorFlow, JAX or PyTorch).

    ``compile``, ``fit``, ``save`` and ``load_model`` work; a file holds the program as text,
    and loads after ``import nestarray``. Random operations of the training
    behaviour draw from a ``keras.random.SeedGenerator``. A model of several inputs takes them as a
    list or a dict.

    A model with ``trainable = False`` computes the evaluation behaviour in ``fit`` too; a part,
    ``model.get_layer("stem")``, keeps its weights and statistics then, and normalizes by the
    latter. The dtypes are those of the graph under each dtype policy.

    Args:
        training: see `to_torch_module`.

    Returns:
        a ``keras.Model``.

    Raises:
        MissingFrameworkError: Keras is not installed.
        ConversionError: the variables have shapes only, or the framework lacks dtypes or calls of
            the graph; lists all.

    Example:
        >>> import tensorflow as tf, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> net = graph.to_keras_model()
        >>> net(tf.ones((4, 2))).shape, net.count_params()
        (TensorShape([4, 3]), 9)
    """
    keras = lazy_imports.optional("keras", "to_keras_model needs", extra="keras")
    return _build("keras_model", "keras", model, keras.backend.backend(), training)

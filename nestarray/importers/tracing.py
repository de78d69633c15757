"""`trace_graph`: the importer that accepts a source reads it."""

from __future__ import annotations

import inspect
from typing import Any

from nestarray.display.progress import progress
from nestarray.errors import ArgumentError
from nestarray.graph.binding import by_own_names
from nestarray.graph.graph import Graph
from nestarray.graph.passes import loops
from nestarray.graph.precision import with_float64
from nestarray.importers.coverage import missing_ops
from nestarray.importers.protocol import Importer, Request, importer_of
from nestarray.importers.size_spec import SizeSpec
from nestarray.nn.module import Module


def trace_graph(
    source: Any,
    /,
    *args: Any,
    train: bool = False,
    dynamic: Any = None,
    islands: bool = False,
    guards: str = "raise",
    roll_loops: bool = False,
    float64: str | None = None,
    framework: str | None = None,
    **kwargs: Any,
) -> Graph:
    """Trace a model or a function into a `Graph` that any backend can run and train.

    Args:
        source: a ``torch.nn.Module``, which ``torch.export`` reads; or a `nestarray.nn.Module`,
            or a function over `na.*`, which runs once while its calls of ops are recorded; if it
            calls functions of JAX on JAX arrays, JAX traces it.
            A function of torch tensors whose code names functions of torch or methods of tensors
            is also read by ``torch.export``; modules that it uses by name are its layers
            (``v["net/weight"]``), other tensors in closures are constants.
            A function of JAX arrays whose code uses JAX is read as a jaxpr; so are an
            ``nnx.Module``, an ``equinox.Module``, a ``linen.Module`` (with ``variables=``) and a
            function of ``hk.transform`` (with ``params=``, and ``state=``), with the paths of
            `Container.from_flax` and its siblings; and an ``objax.Module``, with Objax's names.
            ``v="params"`` names the argument of a JAX function that holds its variables. An
            ``eqx.nn.State`` among the arguments is state.
            A model or a layer of Keras 3 is read on any backend of Keras, with the paths of
            `Container.from_keras`; a ``tf.function``, a ``tf.Module`` and a function of tensors
            that uses TensorFlow as concrete functions; of a SavedModel, ``signature=`` names one.
            A function or method of NumPy arrays, whose code uses NumPy, runs once on recording
            arrays: views, writes into arrays and loops become calls of the graph. ``v=model`` makes
            the floating arrays among the attributes of an object its variables.
            The source is not changed; the graph shares the memory of its variables.
        *args, **kwargs: example inputs, as ``source(*args, **kwargs)`` takes them. An argument
            with the name of a setting is passed by position or with an underscore: ``train_=x``
            here, ``key_=x`` in calls of the graph. Arrays in them (and in Containers, dicts,
            lists, tuples) are inputs of the graph; numbers and strings are part of the program.
        train: trace the training behaviour: dropout draws from a `key`, and the graph
            returns ``(output, new_state)``. By default the evaluation behaviour is
            traced, independent of the mode of a torch module; a module that writes into its
            buffers in evaluation also returns ``(output, new_state)``. Random numbers from NumPy
            or Python in a torch module become constants of the graph, with a warning.
        dynamic: the sizes of the inputs that may change from call to call, by argument and
            dimension: ``{"x": {0: "batch", 1: "length"}}``, with mappings and lists for nested
            arguments. Equal names are equal sizes. An open size may be 1, and 0 where the program
            takes it, whatever the example's is; a program that chooses by it (``if x.shape[0] ==
            1``) has a condition with its line. Code over `na` and NumPy code is recorded on
            shapes; `verify` compares it at other sizes. For torch modules, a ``torch.export.Dim``
            with a range may replace a name, and True opens all sizes that the model does not need
            as constants. For Keras and TensorFlow, True opens the sizes that are None in the model's
            inputs or the function's signature. By default sizes are fixed to the example.
        islands: run unsupported operations, such as ``torch.library.custom_op`` and Pallas
            kernels, in the framework of the source on any backend (`nestarray.graph.island`), with
            their gradients. `nestarray.check` lists them. ``jax.pure_callback`` and ``tf.py_function``
            always are.
        guards: recorded code (of `na` and NumPy) may read values, as in ``if x > 0`` and ``float(x)``.
            The graph holds the calls of the example, and ``graph.report()`` lists these
            assumptions. ``"raise"``: a call whose arguments give other values raises an
            AssumptionError that names the line; ``"ignore"``: calls do not check them.
        roll_loops: make loops (`na.fori_loop`, `na.scan`) of the calls that the steps of a loop of
            Python recorded, which compile once for all steps. Loops whose steps differ stay unrolled.
        float64: ``"float32"`` computes float64 in float32, for JAX without x64; see
            `Graph.to_backend`.
        framework: whose functions the code of a function calls: ``"torch"``, ``"jax"``,
            ``"tensorflow"``, ``"numpy"``, or ``"nestarray"`` for code over `na`. None: the
            framework of a model; for a function a guess from the arrays of the example and the
            names in its code.

    Returns:
        a Graph on the framework of the source, with the source's own arrays;
        ``.to_backend("jax")`` copies them to another framework.

    Raises:
        ArgumentError: `source` has another type or does not accept the example, the example has
            no array, `train` is given for a function, or `framework` is not that of the source.
        ConversionError: torch cannot export the module, the code needs the value of an array where
            it has many, or the model needs a size of `dynamic` as a constant.
        ShapeError: sizes of one name differ in the example.
        MissingOpError: the module uses operations without a frontend function; lists all.

    Example:
        >>> import numpy as np, torch, nestarray as na
        >>> net, x = torch.nn.Linear(2, 3), torch.ones(4, 2)
        >>> graph = na.trace_graph(net, x).to_backend("numpy")
        >>> graph(na.to_backend(x, "numpy")).shape
        (4, 3)
        >>> print(na.trace_graph(lambda x: na.relu(x) * 2, np.ones(3, "float32")))
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(x, *, v, s, constants, key=None):  # float32[3]
            relu = na.relu(x)  # float32[3]
            multiply = na.multiply(relu, 2)  # float32[3]
            return multiply
        <BLANKLINE>
        >>> graph = na.trace_graph(net, x, dynamic={"input": {0: "batch"}})
        >>> graph(torch.ones(7, 2)).shape
        torch.Size([7, 3])
    """
    if guards not in ("raise", "ignore"):
        raise ArgumentError(f"trace_graph: guards: got {guards!r}, expected 'raise' or 'ignore'")
    request = Request(
        source, args, kwargs, train, SizeSpec(dynamic), islands, guards, framework or ""
    )
    importer = select_importer(request)
    with progress(f"trace {request.name}"):
        imported = importer.read(request)
    if imported.graph is None:
        raise missing_ops(imported.name, imported.operations, imported.framework)
    graph = loops.roll_loops(imported.graph) if roll_loops else imported.graph
    return with_float64(graph, float64)


def select_importer(request: Request) -> Importer:
    """The importer that accepts a source; the request gets the source's argument names.

    Raises:
        ArgumentError: there is none, or the example does not fit the source's signature.
    """
    if isinstance(request.source, type):
        raise ArgumentError(
            f"trace_graph: source: got the class {request.source.__name__}, expected an instance of "
            f"it: {request.source.__name__}(...)"
        )
    importer = importer_of(request)
    if importer is None:
        raise ArgumentError(
            f"trace_graph: source: got {type(request.source).__name__}, expected a torch.nn.Module, "
            "a nestarray.nn.Module or a function over na"
        )
    own = importer.keywords(request.source)
    given = {name: value for name, value in request.kwargs.items() if name not in own}
    variables = {name: value for name, value in request.kwargs.items() if name in own}
    if "method" not in variables:  # of another signature
        given = _keywords(request.source, request.args, given, own)
    request.kwargs = given | variables
    return importer


def _keywords(
    source: Any, args: tuple[Any, ...], kwargs: dict[str, Any], own: frozenset[str]
) -> dict[str, Any]:
    """The keyword arguments of the example by the source's names.

    Raises:
        ArgumentError: `source` cannot be called with the example.
    """
    is_module = hasattr(source, "named_parameters") and hasattr(source, "forward")
    if isinstance(source, Module) or not (is_module or callable(source)):
        return kwargs
    try:
        signature = inspect.signature(source.forward if is_module else source)
    except (TypeError, ValueError):  # some functions of C have none
        return kwargs
    kwargs = by_own_names(kwargs, signature.parameters)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        if _fits(signature, args, dict.fromkeys(own & signature.parameters.keys()) | kwargs):
            return kwargs
        name = type(source).__name__ if is_module else getattr(source, "__name__", "source")
        signature = signature.replace(return_annotation=inspect.Signature.empty)
        settings = [n for n in _SETTINGS if n in signature.parameters]
        hint = f", and {settings[0]!r} as {settings[0]}_=" if settings else ""
        raise ArgumentError(
            f"trace_graph: the example does not fit {name}{signature}: {error}; give its arguments "
            f"after the source, as in a call{hint}"
        ) from None
    return kwargs


#: The settings of `trace_graph` and `check`, which may be names of arguments too.
_SETTINGS = (
    "train", "dynamic", "islands", "guards", "roll_loops", "float64", "framework", "target",
)  # fmt: skip


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True

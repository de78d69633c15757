"""Which operations of `tf.raw_ops` are numeric: arrays of numbers to arrays of numbers, in one call."""

from __future__ import annotations

import re
from functools import cache

import tensorflow as tf
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.framework import op_def_registry

#: Dtypes that are no numbers, or that no other framework has.
_DTYPES = {
    types_pb2.DT_RESOURCE: "resources",
    types_pb2.DT_VARIANT: "data sets, lists and other objects",
    types_pb2.DT_STRING: "strings",
    **dict.fromkeys(
        [types_pb2.DT_QINT8, types_pb2.DT_QUINT8, types_pb2.DT_QINT16, types_pb2.DT_QUINT16,
         types_pb2.DT_QINT32],
        "dtypes of quantized numbers",
    ),
}  # fmt: skip

#: Operations whose signature has numbers only, by their whole names.
_NAMES = {
    "graphs and control flow, which the importer reads": "Enter|Exit|Merge|Switch|NextIteration|LoopCond|NoOp|"
    "ControlTrigger|Placeholder.*|FakeParam|Const|ImmutableConst",
    "devices and their communication": "TPU.*|.*TPUEmbedding.*|.*SparseCore.*|ConvertToCooTensor|Infeed.*|Outfeed.*|"
    "Xla.*|Collective.*|Nccl.*|Send|Recv|CrossReplicaSum|AllToAll|DeviceIndex|SyncDevice|GlobalIterId|CheckPinned|"
    "Copy|CopyHost|ShutdownDistributedTPU",
    "cuDNN's opaque buffers": "CudnnRNN.*",
    "debugging and host code": "Debug.*|Print|(Eager)?PyFunc.*|Abort|Assert|Timestamp",
    "state between calls": "(Ordered)?Map[A-Z].*|Stage.*|Unstage|Batch|Unbatch|UnbatchGrad|NonDeterministicInts|"
    ".*ManySparse.*TensorsMap|AddSparseToTensorsMap|(Learned|ThreadUnsafe)Unigram.*",
    "decision trees and linear models of TensorFlow 1": "BoostedTrees.*|Sdca.*",
    "dtypes of quantized numbers": "Quantized.*",
    "ragged tensors": "Ragged.*",
    "strings": "UnicodeScript",
}  # fmt: skip


@cache
def excluded_because(name: str) -> str | None:
    """The reason why an operation is not numeric; None if it is."""
    definition = op_def_registry.get(name)
    if 0 < definition.deprecation.version <= tf.version.GRAPH_DEF_VERSION:
        return "removed from TensorFlow: raises an error"
    arguments = [*definition.input_arg, *definition.output_arg]
    if any(argument.is_ref for argument in arguments):
        return "variables and queues of TensorFlow 1"
    for argument in arguments:
        allowed = _dtypes_of(argument, definition)
        if allowed and allowed <= {*_DTYPES}:
            return _DTYPES[min(allowed)]
    if any(attribute.type in ("func", "list(func)") for attribute in definition.attr):
        return "functions as arguments"
    return next((why for why, names in _NAMES.items() if re.fullmatch(names, name)), None)


def _dtypes_of(argument: op_def_pb2.OpDef.ArgDef, definition: op_def_pb2.OpDef) -> set[int]:
    """The dtypes of an argument; none if it takes any."""
    if not argument.type_attr:
        return {argument.type} - {types_pb2.DT_INVALID}
    attribute = next(a for a in definition.attr if a.name == argument.type_attr)
    return {*attribute.allowed_values.list.type}

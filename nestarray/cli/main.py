"""Arguments, errors and exit codes of the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence

import nestarray as na
from nestarray.cli.console import Console, Failure, prepare_streams
from nestarray.config import BACKENDS
from nestarray.errors import ConversionError, NestarrayError
from nestarray.interchange.naming.conventions import CONVENTIONS
from nestarray.storage.formats import FORMATS

#: Exit codes: success; differences, unsupported operations or a failed proof; bad usage or file.
OK, NEGATIVE, BAD = 0, 1, 2

_EPILOG = """\
exit codes:
  0  success
  1  files differ, operations are unsupported, or the proof failed
  2  wrong arguments, or a file that cannot be read or written

Files are never executed. A failed command leaves no output file.
"""

Command = Callable[[argparse.Namespace, Console], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the arguments; by default the arguments of the process.

    Returns:
        the exit code.
    """
    for name, value in (("TF_CPP_MIN_LOG_LEVEL", "3"), ("TF_ENABLE_ONEDNN_OPTS", "0")):
        os.environ.setdefault(name, value)  # TensorFlow prints about the processor otherwise
    prepare_streams()
    try:
        given = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed help, or an error
        return int(stop.code or 0)
    console = Console(is_json=given.json)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = console.warn
            code = _function(given.command)(given, console)
            sys.stdout.flush()
            return code
    except BrokenPipeError:  # the reader, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        console.error("interrupted")
        return 130
    except (NestarrayError, Failure, OSError) as error:
        if given.traceback:
            traceback.print_exc()
        console.error(_one_line(error))
        return NEGATIVE if isinstance(error, ConversionError) else BAD
    except Exception:  # a fault of nestarray; the interpreter's own status, 1, means "no"
        traceback.print_exc()
        return BAD


def _one_line(error: Exception) -> str:
    """The message without the name of the function that raised it."""
    text = re.sub(r"^(Container|KeyMap)\.\w+: (path: )?", "", str(error))
    text = text.replace("say format=", "say --format").replace("with flat=True", "with --flat")
    text = text.replace("pass overwrite=True", "pass --overwrite")
    return " ".join(text.split()) or type(error).__name__


def _function(name: str) -> Command:
    """The function of a command, ``files.show``; its module is imported now: tracing needs a second."""
    module, _, function = name.partition(".")
    return getattr(importlib.import_module(f"nestarray.cli.{module}"), function)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nestarray",
        description="Inspect, compare and convert checkpoints and models of PyTorch, JAX, TensorFlow and NumPy.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nestarray {na.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, function: str, help: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help)
        added.add_argument("--json", action="store_true", help="print one JSON document")
        added.add_argument(
            "--traceback", action="store_true", help="print the traceback of an error"
        )
        added.set_defaults(command=function)
        return added

    doctor = command(
        "doctor", "doctor.doctor", "versions, devices and compatibility of the frameworks"
    )
    doctor.add_argument("--self-test", action="store_true",
                        help="move a layer from each framework to each other one, and verify it; ten seconds")  # fmt: skip

    show = command("show", "files.show", "the tree, sizes and dtypes of a checkpoint")
    show.add_argument("file", help="a file, the index of a sharded model, or a directory")
    show.add_argument("--flat", action="store_true", help="the names in the file, not as a tree")
    _match(show)
    show.add_argument("--all", action="store_true", help="one line for each leaf, none folded")
    _format(show)

    diff = command("diff", "files.diff", "the differences between two checkpoints")
    diff.add_argument("a", metavar="A", help="the old checkpoint")
    diff.add_argument("b", metavar="B", help="the new checkpoint")
    diff.add_argument("--rtol", type=float, default=0.0, help="relative tolerance")
    diff.add_argument("--atol", type=float, default=0.0, help="absolute tolerance")
    diff.add_argument("--ignore-dtype", action="store_true", help="compare values only")
    _match(diff)
    _names(diff)
    _format(diff)

    convert = command("convert-weights", "files.convert_weights",
                      "write the weights of A to B, under the names and in the layout of another library")  # fmt: skip
    convert.add_argument("a", metavar="A", help="the checkpoint to read")
    convert.add_argument(
        "b", metavar="B", help="the file to write: .safetensors, .npz, .h5 or .zarr"
    )
    wanted = convert.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--to", choices=CONVENTIONS, help="the library whose names to use")
    wanted.add_argument(
        "--like", metavar="FILE", help="a checkpoint with the names and shapes to use"
    )
    wanted.add_argument("--map", metavar="FILE", help="a key map that was saved as JSON")
    convert.add_argument("--from", dest="source", choices=CONVENTIONS, help="the library of A")
    convert.add_argument("--save-map", metavar="FILE", help="write the key map, too")
    _flatten(convert)
    _format(convert)

    check = command(
        "check",
        "models.check",
        "whether each operation of a model can be converted; of a file.py over na, the expressions "
        "that differ between frameworks",
    )
    _model(check)
    check.add_argument(
        "--to", choices=BACKENDS, help="the framework to convert to; a file needs none"
    )

    convert = command(
        "convert",
        "models.convert",
        "convert a model, prove that it computes the same, and write it",
    )
    _model(convert)
    _float64(convert)
    convert.add_argument(
        "--to", required=True, choices=BACKENDS, help="the framework to convert to"
    )
    convert.add_argument("-o", "--output", metavar="OUT", required=True,
                         help="the file of the graph, such as model.safetensors, which na.Graph.load reads; "
                              "or a deployment file: .pt2, .onnx, .stablehlo, .tflite, .keras")  # fmt: skip
    convert.add_argument("--optimize", action="store_true", help="fold and fuse calls first")

    eject = command(
        "eject", "models.eject", "write a model as source code that needs its framework only"
    )
    _model(eject)
    _float64(eject)
    eject.add_argument(
        "--to", required=True, choices=[*BACKENDS, "mlx"], help="the framework of the source"
    )
    eject.add_argument("--style", help="the form of the source, such as functional")
    eject.add_argument("-o", "--output", metavar="FOLDER", required=True,
                       help="the folder of model.py, weights.safetensors and README.md")  # fmt: skip
    eject.add_argument("--overwrite", action="store_true", help="replace a folder")

    run = command(
        "demo",
        "demo.demo",
        "train, move, compare and fine-tune networks in all frameworks; two minutes",
    )
    run.add_argument("--output", default="demo_output", help="the folder of the picture")
    run.add_argument("--short", action="store_true", help="fewer epochs")
    return parser


def _format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, help="the format, if the suffix does not tell")


def _match(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--match", metavar="GLOB", action="append", default=[],
                        help="only these leaves, such as '**/kernel'; may be repeated")  # fmt: skip


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--names", choices=("auto", "same", "match"), default="auto",
                        help="compare leaves of the same path; match layouts of libraries; "
                             "auto: match if no path is in both")  # fmt: skip
    parser.add_argument("--map", metavar="FILE", help="a key map from A to B")
    _flatten(parser)


def _flatten(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--flatten", metavar="LEAF=CHANNELS", action="append", default=[],
                        help="a layer after a flatten of images, and the channels before it")  # fmt: skip


def _model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="module:object or file.py:object; object() calls it; "
                                      "a pair (model, inputs) gives the example; or a TorchScript .pt file")  # fmt: skip
    parser.add_argument("--input", metavar="[NAME=]SHAPE[:DTYPE[:HIGH]]", action="append", default=[],
                        help="an example input, such as 1,3,224,224 or ids=8,16:int64:30000, or a .npy file")  # fmt: skip
    parser.add_argument("--dynamic", metavar="NAME=AXIS", action="append", default=[],
                        help="an axis of an input whose size may change, such as x=0")  # fmt: skip
    parser.add_argument("--train", action="store_true", help="the behaviour in training")
    parser.add_argument(
        "--islands", action="store_true", help="keep unsupported operations in their framework"
    )
    parser.add_argument("--framework", choices=BACKENDS, help="the framework of the inputs")


def _float64(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--float64", choices=("float32",),
                        help="compute float64 in float32, for JAX, and NumPy programs on it")  # fmt: skip

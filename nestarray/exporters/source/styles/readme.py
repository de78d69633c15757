"""The README of stand-alone source: how to run it and train it, its modes, and its error."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray.exporters.source.styles.style import Style

_TEMPLATE = """# {name}

`model.py` defines the model {form}; `weights.safetensors` holds its weights. Both need {packages} only.

```python
{usage}
```
{training}
{modes}

## Comparison

`model.py` was run on random inputs. Its outputs differ from those of the model that it was made of by
at most {error:.1e}, relative to the largest number of each output.
"""

_SWITCH = "`{}` is true for training; false switches off dropout, and batch normalization uses its statistics."
_MODES = {
    "state": "`state` is an `eqx.nn.State`, of which a call returns a new one.",
    "train": _SWITCH.format("train"),
    "training": _SWITCH.format("training"),
    "key": "`key` is a key of `jax.random`; dropout without one (None) drops nothing.",
    "rng": "`rng` is a `numpy.random.Generator`; dropout without one (None) drops nothing.",
}
_EVALUATION = """The model that this source was made of was in its evaluation mode: the source has no dropout, and
batch normalization uses its running statistics."""


def readme(style: Style, inputs: Sequence[str], error: float) -> str:
    """How to use a source.

    Args:
        style: the source.
        inputs: the names of its arguments.
        error: the largest difference of its outputs.
    """
    words = {**style.words(), "inputs": ", ".join(inputs)}
    parts = {name: getattr(style, name).strip().format(**words) for name in ("usage", "training")}
    parts["training"] = f"\nTo train it{parts['training']}\n" if style.training else ""
    loads_itself = "from safetensors" not in style.text
    packages = [f"`{style.library}`", *([] if loads_itself else ["`safetensors`"])]
    return _TEMPLATE.format(
        name=style.name, form=style.form, packages=" and ".join(packages), modes=_modes(style), error=error,
        **parts,
    )  # fmt: skip


def _modes(style: Style) -> str:
    """The modes of a source, and the arguments for them."""
    if not style.program.train:
        return _EVALUATION
    lines = ["The source has the training mode of the model."]
    if style.has_mode:
        lines.append("`model.train()` and `model.eval()` switch dropout and batch normalization.")
    lines += [_MODES[mode] for mode in style.modes]
    if style.writes and style.returns_state:
        lines.append(
            "A call returns the output and the new state, and leaves its arguments as they are."
        )
    return "\n".join(lines)

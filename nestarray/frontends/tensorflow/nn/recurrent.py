"""Wrappers of recurrent cells.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/RNNCellResidualWrapper. A cell is a
function of inputs and state that returns outputs and the new state, with the attributes
`state_size` and `output_size`; other keywords of a call go to the cell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import tree
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.frontends.tensorflow.nn.sampling import dropout
from nestarray.typing import Array, Nest

__all__ = ["RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper"]


class RNNCellDeviceWrapper:
    """The cell; `device` has no effect, because a call runs on the device of its arrays.

    Args:
        cell: the cell.
        device: has no effect.
    """

    def __init__(self, cell: Any, device: Any = None) -> None:
        self.cell = cell

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The sizes of the cell's outputs."""
        return self.cell.output_size

    def __call__(self, inputs: Nest, state: Nest, **kwargs: Any) -> tuple[Nest, Nest]:
        """The outputs and the new state."""
        return self.cell(inputs, state, **kwargs)


class RNNCellResidualWrapper(RNNCellDeviceWrapper):
    """A cell whose inputs are added to its outputs.

    Args:
        cell: the cell.
        residual_fn: a function of inputs and outputs in place of the sum.
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Nest, Nest], Nest] | None = None) -> None:
        super().__init__(cell)
        self.residual_fn = residual_fn

    def __call__(self, inputs: Nest, state: Nest, **kwargs: Any) -> tuple[Nest, Nest]:
        """The sum of inputs and outputs, and the new state."""
        outputs, new_state = self.cell(inputs, state, **kwargs)
        if self.residual_fn is not None:
            return self.residual_fn(inputs, outputs), new_state
        return tree.map(lambda x, y: na.add(tensor(x), y), inputs, outputs), new_state


class RNNCellDropoutWrapper(RNNCellDeviceWrapper):
    """A cell with dropout of its inputs, outputs and new state.

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: the fractions of elements that remain.
        variational_recurrent: whether the batch has one mask. It is the same at every step if the
            steps have the same key.
        input_size, dtype, seed: have no effect.
        dropout_state_filter_visitor: a function of the state, and of its parts, that returns whether
            dropout applies: one bool, or one for each part.

    References:
        https://arxiv.org/abs/1512.05287
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: float = 1.0,
        output_keep_prob: float = 1.0,
        state_keep_prob: float = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[[Nest], Any] | None = None,
    ) -> None:
        super().__init__(cell)
        self.input_keep_prob = input_keep_prob
        self.output_keep_prob = output_keep_prob
        self.state_keep_prob = state_keep_prob
        self.variational_recurrent = variational_recurrent
        self.dropout_state_filter_visitor = dropout_state_filter_visitor or (lambda state: True)

    def __call__(
        self, inputs: Nest, state: Nest, *, key: Array, **kwargs: Any
    ) -> tuple[Nest, Nest]:
        """The outputs and the new state; `key` is the random key."""
        of_inputs, of_outputs, of_state = (na.random.fold_in(key, n) for n in range(3))
        inputs = self._with_dropout(inputs, self.input_keep_prob, of_inputs)
        outputs, state = self.cell(inputs, state, **kwargs)
        is_dropped = _is_dropped(self.dropout_state_filter_visitor, state)
        state = self._with_dropout(state, self.state_keep_prob, of_state, is_dropped)
        return self._with_dropout(outputs, self.output_keep_prob, of_outputs), state

    def _with_dropout(
        self, nest: Nest, keep_prob: float, key: Array, is_dropped: list[bool] | None = None
    ) -> Nest:
        """Dropout of the arrays of a nest, or of those with True."""
        arrays, structure = tree.flatten(nest)
        found = list(arrays)
        for i, x in enumerate(arrays):
            if is_dropped is None or is_dropped[i]:
                mask = [1, *na.shape(x)[1:]] if self.variational_recurrent else None
                found[i] = dropout(x, 1.0 - keep_prob, mask, key=na.random.fold_in(key, i))
        return tree.unflatten(structure, found)


def _is_dropped(visitor: Callable[[Nest], Any], state: Nest) -> list[bool]:
    """For each array of the state, whether dropout applies."""
    answer = visitor(state)
    if not isinstance(state, (list, tuple)):
        return [answer]
    answers = [answer] * len(state) if isinstance(answer, bool) else answer
    if len(answers) != len(state):
        raise ArgumentError(
            f"RNNCellDropoutWrapper: dropout_state_filter_visitor: returned {answer!r}, expected a "
            f"bool or {len(state)} of them, one for each part of the state"
        )
    return [
        bit
        for is_visited, part in zip(answers, state)
        for bit in (_is_dropped(visitor, part) if is_visited else [False] * len(tree.leaves(part)))
    ]

"""The functions of ATen operations, and the errors for operations without one."""

from __future__ import annotations

import inspect
import operator
import subprocess
import sys

import pytest
import torch

import nestarray.frontends.torch as frontend
from nestarray import dtypes
from nestarray.errors import MissingOpError
from nestarray.frontends.rules import Call
from nestarray.frontends.torch import vocabulary

aten = torch.ops.aten


def _call(operation: object, /, **schema_args: object) -> Call:
    rule = vocabulary.find(operation, schema_args)
    assert rule is not None
    return rule.call(schema_args)


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (aten.add.Tensor, "torch.add"),
        (aten.linear.default, "torch.nn.functional.linear"),
        (aten.linalg_vector_norm.default, "torch.linalg.vector_norm"),
        (aten.special_entr.default, "torch.special.entr"),
        (aten.view.default, "torch.Tensor.view"),
        (aten.slice.Tensor, "torch.ops.aten.slice"),
        (aten.__and__.Tensor, "torch.bitwise_and"),
        (aten.max.other, "torch.maximum"),
        (aten.max.dim, "torch.max"),
        (operator.add, "operator.add"),
        (torch.sym_max, "torch.sym_max"),
        ("aten.relu.default", "torch.relu"),
    ],
)
def test_names(target: object, name: str) -> None:
    rule = vocabulary.find(target)
    assert rule is not None
    assert rule.name == name


def test_arguments_are_matched_by_name() -> None:
    call = _call(aten.embedding.default, weight="w", indices="i", padding_idx=-1)
    assert call.args == ("i", "w")
    assert call.kwargs == {}
    call = _call(aten.conv2d.default, input="x", weight="w", stride=[2, 2], groups=4)
    assert call.args == ("x", "w")
    assert call.kwargs == {"stride": [2, 2], "groups": 4}
    call = _call(aten.add.Tensor, self="x", other="y", alpha=2)
    assert (call.args, call.kwargs) == (("x", "y"), {"alpha": 2})


def test_sizes_stay_a_list_and_arrays_are_spread() -> None:
    assert _call(aten.view.default, self="x", size=[2, 3]).args == ("x", [2, 3])
    assert _call(aten.meshgrid.indexing, tensors=["x", "y"], indexing="ij").args == ("x", "y")


def test_storage_is_dropped() -> None:
    call = _call(aten.zeros.default, size=[2], dtype=dtypes.int64, device=None, pin_memory=False)
    assert call.args == ([2],)
    assert call.kwargs == {"dtype": dtypes.int64}


def test_reductions_are_words() -> None:
    assert _call(aten.mse_loss.default, self="x", target="y", reduction=2).kwargs == {
        "reduction": "sum"
    }


def test_a_mode_of_its_own_is_an_argument() -> None:
    call = _call(
        aten.upsample_bilinear2d.vec, input="x", output_size=[4, 4], align_corners=True,
        scale_factors=None,
    )  # fmt: skip
    assert call.name == "torch.nn.functional.interpolate"
    assert call.kwargs == {"size": (4, 4), "mode": "bilinear", "align_corners": True}


@pytest.mark.parametrize(
    ("target", "schema_args", "random"),
    [
        (aten.dropout.default, {"input": "x", "p": 0.5, "train": True}, True),
        (aten.dropout.default, {"input": "x", "p": 0.5, "train": False}, False),
        (aten.dropout.default, {"input": "x", "p": 0.0, "train": True}, False),
        (aten.native_dropout.default, {"input": "x", "p": 0.5, "train": True}, True),
        (aten.rand.default, {"size": [2]}, True),
        (aten.relu.default, {"self": "x"}, False),
        (
            aten.scaled_dot_product_attention.default,
            {"query": "q", "key": "k", "value": "v", "dropout_p": 0.1},
            True,
        ),
        (
            aten.scaled_dot_product_attention.default,
            {"query": "q", "key": "k", "value": "v"},
            False,
        ),
    ],
)
def test_a_call_is_random_only_where_it_draws(
    target: object, schema_args: dict[str, object], random: bool
) -> None:
    assert _call(target, **schema_args).is_random is random


def test_attention_with_dropout_is_a_function_with_a_key() -> None:
    call = _call(
        aten.scaled_dot_product_attention.default, query="q", key="k", value="v", dropout_p=0.1
    )
    assert call.name == "torch.nn.functional.dropout_attention"
    assert call.args == ("q", "k", "v")
    assert call.kwargs == {"dropout_p": 0.1}


def test_an_unknown_operation_has_no_rule() -> None:
    assert vocabulary.find(aten.quantize_per_tensor.default) is None
    assert vocabulary.find("aten.no_such_operation.default") is None
    assert vocabulary.find(len) is None


def test_rules_of_aten_do_not_apply_to_other_libraries() -> None:
    for name in ("embedding", "relu", "linalg_norm", "max"):
        assert vocabulary.find(f"other.{name}.default") is None


def test_an_overload_with_a_required_argument_too_many_has_no_rule() -> None:
    assert vocabulary.find(aten.sort.default) is not None
    assert vocabulary.find(aten.sort.values) is None


def test_an_optional_argument_too_many_is_an_error() -> None:
    with pytest.raises(MissingOpError, match=r"aten\.elu\.default: scale: elu does not take it"):
        _call(aten.elu.default, self="x", scale=2.0)


def test_operations_without_effect_on_values_are_ignored() -> None:
    for operation in (aten._assert_tensor_metadata.default, "aten._assert_scalar.default"):
        rule = vocabulary.find(operation)
        assert rule is not None
        assert rule.is_ignored
    rule = vocabulary.find(aten.relu.default)
    assert rule is not None
    assert not rule.is_ignored


def test_rules_name_operations_and_functions_that_exist() -> None:
    for rule in vocabulary.RULES:
        library, base, *overload = rule.operation.split(".")
        if library == "aten":
            packet = getattr(aten, base)
            assert not overload or overload[0] in packet.overloads(), rule.operation
        assert rule.is_ignored or callable(rule.function), rule.name


def test_a_row_that_repeats_the_lookup_by_name_is_deleted() -> None:
    for rule in vocabulary.RULES:
        is_plain = not (rule.names or rule.defaults or rule.adapt or rule.result_sizes)
        if rule.operation.startswith("aten.") and is_plain and not rule.first_result:
            found = vocabulary._candidates(rule.operation)
            assert len(found) == 1 or found[-1].name != rule.name, rule.operation


def test_a_size_of_the_result_is_an_argument() -> None:
    rule = vocabulary.find(aten.bincount.default)
    assert rule is not None
    assert rule.call({"self": "x"}, (5,)).kwargs == {"length": 5}
    assert rule.call({"self": "x"}, ("n",)).kwargs == {}


def test_the_first_result_alone_has_a_simpler_function() -> None:
    for first, name in (
        (True, "torch.nn.functional.dropout"),
        (False, "torch.ops.aten.native_dropout"),
    ):
        rule = vocabulary.find(aten.native_dropout.default, first_result=first)
        assert rule is not None
        assert rule.name == name


def test_the_frontend_imports_no_framework() -> None:
    code = (
        "import sys, nestarray.frontends.torch, nestarray.frontends.torch.vocabulary;"
        "print([m for m in ('torch', 'jax', 'tensorflow') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_function_has_a_summary() -> None:
    spaces = [frontend, frontend.nn.functional, frontend.Tensor, frontend.linalg, frontend.special]
    for space in [*spaces, frontend.fft, frontend.ops.aten, frontend.ops.transformers]:
        for name, function in vars(space).items():
            ours = getattr(function, "__module__", "").startswith("nestarray.frontends")
            if inspect.isfunction(function) and ours and not name.startswith("_"):
                assert function.__doc__, f"{space.__name__}.{name}"


def test_functions_of_sizes_take_their_arguments_by_position():
    for name, given, want in (("sym_max", (2, 3), 3), ("sym_ite", (False, 2, 3), 3)):
        rule = vocabulary.find(f"torch.{name}")
        call = rule.call({str(i): x for i, x in enumerate(given)})
        assert call.function(*call.args, **call.kwargs) == want


def test_rows_may_be_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = list(vocabulary.RULES)
    monkeypatch.setattr(vocabulary, "RULES", rows)
    for name in ("torch.add", "torch.mul"):
        rows.append(vocabulary.Rule("example.combine", name))
        rule = vocabulary.find("example.combine")
        assert rule is not None
        assert rule.name == name
        rows.pop()
    assert vocabulary.find("example.combine") is None

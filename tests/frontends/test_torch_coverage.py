"""docs/torch_coverage.md says what is true."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.frontends import op_samples
from tools.releases import accepted

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    path = DOCS / "generate_torch_coverage.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(generator: ModuleType) -> None:
    if not accepted.is_pinned("torch"):
        pytest.skip("the page lists the functions of the release that constraints.txt pins")
    stale = "docs/torch_coverage.md is stale: run python docs/generate_torch_coverage.py"
    assert generator.PATH.read_text() == generator.text(), stale


def test_almost_every_function_is_compared_with_torch(generator: ModuleType) -> None:
    compared = set().union(*generator.comparisons().values())
    functions = generator.public_functions()
    alone = {name for name, function in functions.items() if function not in compared}
    assert alone <= ELSEWHERE, alone - ELSEWHERE


def test_every_record_has_a_function_or_a_reason() -> None:
    assert op_samples.names_without_function() == set(op_samples.WITHOUT_FUNCTION)


#: Compared by other tests, in test_torch_promotion, test_torch_random and
#: test_torch_quantization; control flow in whole programs, in tests/graph. PyTorch 2.14 has removed
#: cholesky and qr, which are those of torch.linalg.
ELSEWHERE = {
    "torch.binomial",
    "torch.cholesky",
    "torch.fake_quantize_per_channel_affine",
    "torch.fake_quantize_per_tensor_affine",
    "torch.cond",
    "torch.while_loop",
    "torch.pca_lowrank",
    "torch.svd_lowrank",
    "torch.Tensor.fill_diagonal",
    "torch.can_cast",
    "torch.nn.functional.dropout1d",
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.dropout3d",
    "torch.nn.functional.dropout_attention",
    "torch.nn.functional.gumbel_softmax",
    "torch.normal",
    "torch.ops.aten.normal_functional",
    "torch.qr",
    "torch.randint_like",
    "torch.result_type",
}

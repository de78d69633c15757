"""The demo: all backends agree, and fine-tuning in JAX improves the torch network."""

from __future__ import annotations

from pathlib import Path

import pytest

from nestarray.demo import digits


@pytest.mark.release
def test_demo(tmp_path: Path) -> None:
    figures = digits.run(tmp_path / "out", epochs=3, tuning_epochs=4)
    assert [row.backend for row in figures["rows"]] == list(digits.BACKENDS)
    for row in figures["rows"]:
        assert row.agrees
        assert row.forward < 1e-5
        assert row.gradient is not None
        assert row.accuracy == figures["rows"][0].accuracy > 0.9
    assert figures["after"] > figures["before"] + 0.15
    assert figures["after"] == figures["in_jax"]
    assert figures["picture"].stat().st_size > 10_000

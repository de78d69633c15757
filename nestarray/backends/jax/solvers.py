"""Solutions of equations with derivatives by the implicit function theorem."""

from __future__ import annotations

from jax import lax

custom_linear_solve = lax.custom_linear_solve
custom_root = lax.custom_root

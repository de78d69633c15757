"""NumPy programs converted to JAX, against the same programs written for JAX.

The programs are those of `tests/importers/numpy/programs.py`, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable
from nestarray.graph import passes
from tests.importers.numpy import programs


def tables() -> list[Table]:
    """One table."""
    import jax

    with jax.enable_x64(True):
        return [_programs()]


def _arguments() -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    positive = lambda *shape: np.abs(normal(*shape)) + 1  # noqa: E731
    return {
        "k_means": (normal(2000, 8),),
        "game_of_life": (rng.integers(0, 2, (256, 256)),),
        "gaussian_process": (np.sort(normal(100)), normal(100), normal(50)),
        "n_body": (normal(100, 3), normal(100, 3), positive(100)),
        "black_scholes": (positive(20000), positive(20000)),
        "mandelbrot": (normal(128, 128) + 1j * normal(128, 128),),
        "heat_equation": (normal(128, 128),),
        "kalman_filter": (normal(20),),
        "mlp": (normal(128, 64), normal(64, 128), normal(128), normal(128, 10)),
        "lstm": (normal(16, 32), normal(32, 256), normal(64, 256)),
        "spectral_solver": (normal(16384),),
        "moving_statistics": (normal(64),),
    }


def _written_for_jax() -> dict[str, Callable[..., Any]]:
    """The programs as one writes them for JAX."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def k_means(x: Any) -> Any:
        centers = x[:3]
        for _ in range(4):
            distances = ((x[:, None] - centers) ** 2).sum(2)
            nearest = distances.argmin(1)
            chosen = jax.nn.one_hot(nearest, 3, dtype=x.dtype)
            centers = chosen.T @ x / jnp.maximum(chosen.sum(0), 1)[:, None]
        return centers, nearest

    def game_of_life(board: Any) -> Any:
        b = board
        inner = (
            b[:-2, :-2] + b[:-2, 1:-1] + b[:-2, 2:] + b[1:-1, :-2]
            + b[1:-1, 2:] + b[2:, :-2] + b[2:, 1:-1] + b[2:, 2:]
        )  # fmt: skip
        neighbours = jnp.pad(inner, 1)
        alive = (neighbours == 3) | ((neighbours == 2) & (b == 1))
        return alive.astype(b.dtype)

    def gaussian_process(x: Any, y: Any, new: Any) -> Any:
        def kernel(a: Any, b: Any) -> Any:
            return jnp.exp(-0.5 * (a[:, None] - b) ** 2)

        solve = jnp.linalg.solve
        factor = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(len(x)))
        weights = solve(factor.T, solve(factor, y))
        cross = kernel(new, x)
        half = solve(factor, cross.T)
        return cross @ weights, jnp.diag(kernel(new, new)) - (half**2).sum(0)

    def n_body(position: Any, velocity: Any, mass: Any) -> Any:
        for _ in range(3):
            apart = position[None] - position[:, None]
            cubes = ((apart**2).sum(-1) + 0.1) ** 1.5
            velocity += 0.01 * jnp.einsum("ijk,j->ik", apart / cubes[..., None], mass)
            position += 0.01 * velocity
        return position, velocity

    def black_scholes(spot: Any, strike: Any) -> Any:
        rate, volatility, years = 0.02, 0.3, 1.5
        root = volatility * years**0.5
        d1 = (jnp.log(spot / strike) + (rate + volatility**2 / 2) * years) / root
        normal = lambda x: 1 / (1 + jnp.exp(-1.702 * x))  # noqa: E731
        return spot * normal(d1) - strike * jnp.exp(-rate * years) * normal(d1 - root)

    def mandelbrot(c: Any) -> Any:
        z, count = jnp.zeros_like(c), jnp.zeros(c.shape, int)
        for _ in range(8):
            inside = jnp.abs(z) < 2
            z = jnp.where(inside, z * z + c, z)
            count += inside
        return count

    def heat_equation(u: Any) -> Any:
        for _ in range(5):
            inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
            u = u.at[1:-1, 1:-1].add(0.1 * inner)
            u = u.at[0].set(0).at[-1].set(1)
        return u

    def kalman_filter(measured: Any) -> Any:
        f, h = jnp.array([[1.0, 1.0], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])

        def step(carry: Any, value: Any) -> Any:
            state, p = carry
            state, p = f @ state, f @ p @ f.T + 0.01 * jnp.eye(2)
            gain = p @ h.T / (h @ p @ h.T + 0.5)
            state = state + gain * (value - h @ state)
            return (state, (jnp.eye(2) - gain @ h) @ p), state[:, 0]

        return lax.scan(step, (jnp.zeros((2, 1)), jnp.eye(2)), measured)[1]

    def mlp(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
        return jax.nn.softmax(jax.nn.relu(x @ w1 + b1) @ w2, axis=1)

    def lstm(x: Any, w: Any, u: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            h, c = carry
            i, f, g, o = jnp.split(row + h @ u, 4)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros(u.shape[0])
        return lax.scan(step, (zeros, zeros), x @ w)[1]

    def spectral_solver(u: Any) -> Any:
        k = jnp.fft.fftfreq(u.size, 1 / u.size)
        return jnp.fft.ifft(jnp.exp(-(k**2) * 0.01) * jnp.fft.fft(u)).real

    def moving_statistics(x: Any) -> Any:
        windows = jnp.stack([x[i : i + 3] for i in range(len(x) - 2)])
        trend = jnp.polyval(jnp.array([0.5, -1.0]), jnp.linspace(0, 1, len(x)))
        clipped = jnp.clip(x, *jnp.percentile(x, jnp.array([10, 90])))
        return windows.mean(1), windows.std(1, ddof=1), x - trend, clipped, x.sum()

    return {name: f for name, f in locals().items() if name in _arguments()}


def _programs() -> Table:
    import jax

    table = Table(
        "NumPy in: programs under jax.jit",
        ["", "NumPy", "written for JAX", "converted", "ratio", "loops rolled", "ratio"],
        "float64; the minimum of 301 calls in turn. For JAX one writes loops over rows (Kalman filter, "
        "LSTM) as `lax.scan`; a converted loop is unrolled, until `passes.roll_loops` makes a `scan` "
        "of it.",
    )
    written = _written_for_jax()
    for name, args in _arguments().items():
        program = programs.PROGRAMS[name][0]
        graph = na.trace_graph(program, *[np.array(x) for x in args]).to_backend("jax")
        moved = [jax.numpy.asarray(x) for x in args]
        compiled = {
            "written": jax.jit(written[name]),
            "converted": jax.jit(graph),
            "rolled": jax.jit(passes.roll_loops(graph.lower())),
        }
        first, *others = [jax.tree.leaves(f(*moved)) for f in compiled.values()]
        for other in others:
            for a, b in zip(first, other, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
        runs = {"NumPy": lambda f=program, args=args: f(*[x.copy() for x in args])}
        runs |= {k: lambda f=f, x=moved: jax.block_until_ready(f(*x)) for k, f in compiled.items()}
        times = compare(runs, rounds=301, at_least=0.0)
        cells = [name.replace("_", " "), readable(times["NumPy"]), readable(times["written"])]
        for label in ("converted", "rolled"):
            cells += [readable(times[label]), ratio(times[label], times["written"])]
        table.add(*cells)
    return table

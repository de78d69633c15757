"""Recording: run Python code over `na` once, and append a call to a graph for each op.

- `recorder`: traced values and the calls they record; `control_flow`: loops, choices, `vmap`.
- `open_recorder`: recording at three sizes at once, so that open sizes stay open.
- `open_sizes`: a size as an expression, as frontend code sees it.
"""

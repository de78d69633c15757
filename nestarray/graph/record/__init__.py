"""Recording: run Python code over `na` once, and append a call to a graph for each op.

- `recorder`: traced values and the calls they record; `control_flow`: loops, choices, `vmap`.
- `abstract_recorder`: recording on shapes, whose sizes may be open.
- `lowering_recorder`: recording the calls of another graph.
"""

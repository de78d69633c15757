"""The proof that a graph computes the same as its source.

- `reference`: the source, run call by call; `derived`: the source of a graph made from a graph.
- `execution`: the calls of a graph, one by one; `verify`: both, side by side.
- `comparison`, `tolerances`, `rounding`, `linearization`: whether two values agree.
- `sampling`: inputs with other numbers; `report`: the result.
"""

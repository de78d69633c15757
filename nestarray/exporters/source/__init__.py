"""Stand-alone source of graphs, in the public functions of a framework.

Packages import downwards: `styles` → `printing` → `tree` → `recording`, and `lowering` on the level of `tree`.

- `lowering` rewrites the lowered graph: calls of layers for the operations that replace them in JAX,
  TensorFlow and Keras, few layout calls, dropout and other random numbers,
  writes into the state.
- `recording` runs the graph once and notes the outermost public calls. A loop or a branch is one call
  whose arguments are functions with calls.
- `tree` makes a tree of modules of the calls, by the places of the nodes, and finds modules of the same
  class.
- `printing` writes calls and bodies, with a language for each framework; `styles` prints the tree as
  classes or functions.
- `eject` runs the text and compares it with the graph.
"""

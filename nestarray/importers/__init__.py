"""Models of other frameworks as graphs: one package for each source.

- `torch`: PyTorch modules and functions.
- `check`: the operations that prevent a conversion; `islands`: operations that stay in torch.
"""

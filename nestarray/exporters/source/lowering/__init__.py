"""The lowered graph as its target computes it: layers, random numbers, batch normalization."""

"""The recorded calls as a tree of modules, and the classes of these."""

"""Stand-alone source of graphs, in the public functions of a framework."""

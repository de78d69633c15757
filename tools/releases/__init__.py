"""What the installed releases have that the frontends lack, and what upstream has removed.

``python -m tools.releases`` prints the gaps. ``accepted_gaps.toml`` lists those that are accepted,
each with its reason; a test compares the two.
"""

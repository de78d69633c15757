"""``python -m tools.releases``: the gaps of the frontends in the installed releases, as text.

A gap that is not accepted has a line of its own; the accepted ones follow, by reason. Fill a new gap,
or add it to ``tools/releases/accepted_gaps.toml`` with a reason.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from tools.releases import report

print(report.text())

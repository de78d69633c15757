"""The build hook: completes the package before a wheel or an editable install is made.

It writes the stubs, and puts constraints.txt, from which ``nestarray doctor`` reads the tested versions,
into the wheel.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        runpy.run_path(str(Path(self.root, "tools/stubs.py")))["write"]()
        if self.target_name == "wheel" and version == "standard":  # editable: it is in the checkout
            constraints = str(Path(self.root, "constraints.txt"))
            build_data["force_include"][constraints] = "nestarray/constraints.txt"

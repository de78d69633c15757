"""What was wrong with a call that a framework refused.

A call that succeeds pays for no check. When a backend's function raises, the op's arguments
are looked at here: their kinds, as the signature has them, then `RULES` in their order, then
the checks in the op's own body. The first that is broken raises the error: the same type and
the same text on every backend.
Where no rule knows what was wrong, the error lists what the op was called with. Errors that
come from the values of arrays (a singular matrix, an index out of bounds), and those of
traced code, stay the framework's own. A mistake that some framework would compute something
for is checked in that backend's function, by the same rule.
"""

from nestarray.diagnosis.refusals import explain as explain
from nestarray.diagnosis.refusals import kinds_rule as kinds_rule

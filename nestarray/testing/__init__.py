"""What tests of code over nestarray need: one comparison, and derivatives checked by differences."""

from nestarray.testing.comparison import TOLERANCES as TOLERANCES
from nestarray.testing.comparison import assert_close as assert_close
from nestarray.testing.derivatives import check_grads as check_grads

"""Sizes of arrays that a program leaves open, in exact arithmetic.

- `expressions`: `Size`, an integer in normal form; `Real`, a number that is to be rounded.
- `relations`: ranges of names and conditions; decides comparisons.
- `text`: a size as Python writes it, and back.
"""

from nestarray.sizes.expressions import IntOrSize as IntOrSize
from nestarray.sizes.expressions import Real as Real
from nestarray.sizes.expressions import Size as Size
from nestarray.sizes.expressions import computed as computed
from nestarray.sizes.expressions import larger as larger
from nestarray.sizes.expressions import named as named
from nestarray.sizes.expressions import names_of as names_of
from nestarray.sizes.expressions import real as real
from nestarray.sizes.expressions import rounded as rounded
from nestarray.sizes.expressions import smaller as smaller
from nestarray.sizes.expressions import value_at as value_at
from nestarray.sizes.relations import Condition as Condition
from nestarray.sizes.relations import Relations as Relations
from nestarray.sizes.relations import any_of as any_of
from nestarray.sizes.relations import equal_answers as equal_answers
from nestarray.sizes.relations import opposites as opposites
from nestarray.sizes.text import of_tree as of_tree
from nestarray.sizes.text import parse as parse
from nestarray.sizes.text import parse_conditions as parse_conditions
from nestarray.sizes.text import tree_of as tree_of

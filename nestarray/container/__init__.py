"""`Container`: one immutable nested mapping of arrays, flat inside."""

from nestarray.container import mapping as mapping  # these files attach methods
from nestarray.container import pytree as pytree  # registers Container with frameworks
from nestarray.container import selection as selection
from nestarray.container import structure as structure
from nestarray.container import tracing as tracing
from nestarray.container.attaching import constructor as constructor
from nestarray.container.attaching import method as method
from nestarray.container.container import Container as Container
from nestarray.container.container import Leaf as Leaf
from nestarray.container.container import ListContainer as ListContainer
from nestarray.container.container import New as New
from nestarray.container.container import TupleContainer as TupleContainer
from nestarray.container.fused import FusedContainer as FusedContainer

"""`Container`: one immutable nested mapping of arrays, flat inside."""

from nestarray.container import pytree as pytree  # frameworks are told when they are imported
from nestarray.container import selection as selection  # its methods are attached
from nestarray.container.attaching import constructor as constructor
from nestarray.container.attaching import method as method
from nestarray.container.container import Container as Container
from nestarray.container.container import Leaf as Leaf
from nestarray.container.container import ListContainer as ListContainer
from nestarray.container.container import New as New
from nestarray.container.container import TupleContainer as TupleContainer
from nestarray.container.fused import FusedContainer as FusedContainer

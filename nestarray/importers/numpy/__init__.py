"""Import of NumPy code: unchanged functions run once on recording arrays.

- `arrays`: arrays that record calls, views and writes; `recording`: one run.
- `selection`: accepted sources; `importer`: the importer, and the code as the reference of `verify`.
"""

from nestarray.importers import protocol
from nestarray.importers.numpy.selection import NumpyImporter

protocol.register(NumpyImporter())

"""Import of NumPy code: unchanged functions run once on recording arrays.

- `arrays`: arrays that record calls, views and writes; `recording`: one run.
- `importer`: the importer, and the code as the reference of `verify`.
"""

from nestarray.importers.numpy import importer as importer  # registered when imported

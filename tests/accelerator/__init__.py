"""Models, gradients and transfers on an accelerator: ``make test-gpu``.

The ops run there by their own tests, with ``NESTARRAY_TEST_DEVICE=gpu``.
"""

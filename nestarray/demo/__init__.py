"""The programs of ``nestarray demo``: networks that are trained in one framework and tuned in another."""

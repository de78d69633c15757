"""Programs for those who develop nestarray."""

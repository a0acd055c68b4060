"""Readers of raw files, one per format; none of them can be made to run code from a file."""

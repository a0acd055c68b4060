"""The graph: validated and frozen, from any library, with its labels."""

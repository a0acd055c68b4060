"""The names of splits, and a default of tables, for help texts."""

PUBLIC = "public"
RANDOM = "random-60-20-20"
GEOM_GCN = "geom-gcn-48-32-20"
SPLITS = (PUBLIC, RANDOM, GEOM_GCN)
MAX_CATEGORIES = 50
"""Categories of a column of a table; rarer ones share a feature."""

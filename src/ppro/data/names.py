"""The names of splits."""

PUBLIC = "public"
RANDOM = "random-60-20-20"
GEOM_GCN = "geom-gcn-48-32-20"
SPLITS = (PUBLIC, RANDOM, GEOM_GCN)

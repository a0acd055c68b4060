"""Settings from a search: ``auto`` on the graph itself, ``tuning`` on Optuna."""

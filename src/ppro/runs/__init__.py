"""What a training leaves: the run folder, the table of nodes, and the estimator."""

"""The paper's tables as commands: search, run what is missing, render from result files alone."""

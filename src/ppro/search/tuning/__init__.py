"""Search of settings on Optuna: many configurations in one program, many workers on one study."""

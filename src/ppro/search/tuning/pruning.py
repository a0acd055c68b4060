"""Which configurations are worth more seeds."""

import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial

KEPT = 0.5
"""Share of the configurations that train on more than their first seed."""


class TopShare(BasePruner):
    """Prunes a trial that is not among the best share of all trials at the same step.

    Optuna's own pruners compare with the trials that are complete, or judge one after the other;
    here the trials of a batch come to a step together and are compared with each other, and with
    all before them, pruned ones too. All train on the same seed and split, so the comparison is
    a paired one.

    Args:
        share: how many of them go on, at least one.
    """

    def __init__(self, share: float = KEPT) -> None:
        self.share = share

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Tell whether more than the share of all trials did better at this trial's last step."""
        step = trial.last_step
        if step is None:
            return False
        others = study.get_trials(deepcopy=False)
        reached = [t.intermediate_values[step] for t in others if step in t.intermediate_values]
        own = trial.intermediate_values[step]
        return sum(value > own for value in reached) >= max(1, self.share * len(reached))

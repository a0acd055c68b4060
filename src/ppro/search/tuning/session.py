"""A worker's whole part in a study: open the storage, train trials, write what was found."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from optuna.exceptions import StorageInternalError
from sqlalchemy.exc import SQLAlchemyError

from ppro.errors import RunError
from ppro.search.tuning.evaluation import Evaluator, batch_size
from ppro.search.tuning.outcome import best_recipe, write_outcome
from ppro.search.tuning.plots import MISSING, write_plots
from ppro.search.tuning.spaces import SearchSpace
from ppro.search.tuning.storage import StudyPlace, first_line, open_place
from ppro.search.tuning.study import SharedStudy
from ppro.search.tuning.subject import Subject
from ppro.search.tuning.worker import Limits, Tell, Watch, work
from ppro.settings.recipe import Recipe


@dataclass(frozen=True)
class Wishes:
    """What a user may ask of a search; where it is None, the search chooses.

    Args:
        study: its name.
        storage: a journal file or a URL.
        folder: for the record, pictures and, without ``out``, the recipe.
        trials: configurations in all.
        batch: configurations trained together.
        seed: of the proposals.
    """

    study: str
    storage: str
    folder: Path
    out: Path
    trials: int
    space: str | None = None
    timeout: float | None = None
    batch: int | None = None
    prune: bool = True
    seed: int = 0


class Session:
    """One worker's part in a study.

    Raises:
        RunError: the storage cannot be opened, or the study is about something else.
        SettingsError: the space does not exist.
    """

    def __init__(self, subject: Subject, wishes: Wishes, device: torch.device) -> None:
        self.subject, self.wishes = subject, wishes
        self.space_name = subject.space_name(wishes.space)
        self.space: SearchSpace = subject.space(self.space_name)
        base = subject.base(self.space_name)
        deepest = max(
            int(s.get("max_steps", base.network.max_steps)) for s in self.space.shapes.values()
        )
        batch = wishes.batch or batch_size(
            subject.graph, base.replace(max_steps=deepest, form="hidden"), device
        )
        self.evaluator = Evaluator(subject.graph, subject.splits, base, device, batch)
        size = self.space.size
        trials = wishes.trials if size is None else min(wishes.trials, size)
        self.limits = Limits(trials, batch, wishes.timeout)
        self.place: StudyPlace = open_place(wishes.storage)
        self.study = SharedStudy(
            self.place,
            wishes.study,
            self.space,
            subject.identity(self.space_name, self.space),
            prune=wishes.prune,
            seed=wishes.seed,
        )

    def run(self, tell: Tell, watch: Watch) -> bool:
        """Work until the study has enough trials; tell whether it ended without Ctrl-C.

        Raises:
            RunError: the storage cannot be reached any more.
        """
        try:
            work(self.study, self.evaluator, self.limits, tell, watch)
        except KeyboardInterrupt:
            return False
        except (StorageInternalError, SQLAlchemyError) as error:
            raise RunError(
                f"--storage: lost during the search ({first_line(error)}); the same command goes "
                "on once it can be reached"
            ) from None
        return True

    def leave(self) -> tuple[Recipe | None, dict[str, Any], list[str]]:
        """Write what there is to keep, let go of the study; returns recipe, record and notes."""
        recipe, wishes = self.recipe(), self.wishes
        facts = write_outcome(wishes.folder, wishes.out, self.study, self.evaluator, recipe)
        notes = []
        try:
            pictures = write_plots(self.study, facts["importance"], wishes.folder)
            facts["pictures"] = [str(path) for path in pictures]
        except ImportError:
            notes.append(MISSING)
        self.place.guard.close()
        return recipe, facts, notes

    def recipe(self) -> Recipe | None:
        """Return the best recipe so far."""
        known = self.subject.recipe
        return best_recipe(self.study, self.evaluator, known.dataset, self.space_name, known.paper)

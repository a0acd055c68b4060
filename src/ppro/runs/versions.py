"""What a result was computed with, as :mod:`ppro.training.versions` has it."""

from ppro.training.versions import versions as versions

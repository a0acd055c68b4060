"""Settings of the controllers that depend on each other."""

from ppro.settings.settings import Settings


def test_a_teaching_has_its_usual_controllers() -> None:
    usual = {"judges": "folds", "lr_controller": 0.01, "controller_units": 32, "lambda1": 2.0}
    paper = {"judges": "train", "lr_controller": 1e-3, "controller_units": 64, "lambda1": 1.0}
    comparing = Settings(teaching="compare")
    for made in (comparing, Settings().replace(teaching="compare")):
        assert {name: made.flat()[name] for name in usual} == usual
    back = comparing.replace(teaching="paper").flat()
    assert {name: back[name] for name in paper} == paper
    given = Settings(lambda1=0.1).replace(teaching="compare", lambda1=5.0, lr_controller=0.002)
    assert (given.controllers.lambda1, given.controllers.lr_controller) == (5.0, 0.002)
    assert comparing.replace(dropout=0.3).controllers == comparing.controllers

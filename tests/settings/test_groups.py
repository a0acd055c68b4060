"""Groups of settings: flat names, names of version 0.1, and settings of other networks."""

from __future__ import annotations

import pytest

from ppro.errors import SettingsError
from ppro.nn.backbones.appnp import APPNPSettings
from ppro.nn.rivals.gprgnn import GPRGNNSettings
from ppro.parts import BACKBONES, RIVALS
from ppro.settings.settings import Settings, all_keys, parse_settings


def test_flat_and_grouped_settings_are_the_same() -> None:
    flat = Settings(backbone="gat", heads=4, lr=0.05, epsilon=0.7, self_loops=False)
    grouped = Settings(
        backbone="gat",
        network={"heads": 4},
        training={"lr": 0.05},
        controllers={"epsilon": 0.7},
        inputs={"self_loops": False},
    )
    assert flat == grouped
    assert Settings.read(flat.model_dump()) == flat
    assert Settings.read(flat.flat()) == flat


def test_every_flat_name_belongs_to_one_group() -> None:
    for model in ("ppro", *RIVALS):
        names = [
            key for group in Settings(model=model).groups() for key in type(group).model_fields
        ]
        assert len(names) == len(set(names)), model
    assert len(all_keys()) == len(set(all_keys()))


def test_alpha_of_two_networks_is_two_settings() -> None:
    appnp, gprgnn = Settings(alpha=0.2).network, Settings(model="gprgnn", alpha=0.9).network
    assert isinstance(appnp, APPNPSettings)
    assert isinstance(gprgnn, GPRGNNSettings)
    assert (appnp.alpha, gprgnn.alpha) == (0.2, 0.9)


def test_a_setting_of_another_network_is_refused_by_name_and_left_out_of_saved_ones() -> None:
    with pytest.raises(SettingsError) as error:
        parse_settings({"backbone": "gcn", "form": "class"}, "here")
    assert str(error.value) == (
        "here: form is no setting of gcn; leave it out, or choose a network that has it: appnp"
    )
    assert Settings.read({"backbone": "gcn", "form": "class", "lr": 0.1}) == Settings(
        backbone="gcn", lr=0.1
    )


def test_another_network_takes_along_what_it_shares() -> None:
    settings = Settings(alpha=0.3, hidden=16, form="class").replace(backbone="gcnii")
    assert settings.flat()["alpha"] == 0.3
    assert settings.network.hidden == 16
    assert "form" not in settings.flat()
    assert settings.replace(model="mlp").strategy == "none"


def test_the_second_meaning_of_lambda2_in_version_0_1_is_read() -> None:
    settings = Settings.read({"model": "l2q", "lambda2": 0.6})
    assert settings.flat()["entropy"] == 0.6
    assert settings.controllers.lambda2 == 1.0
    assert settings.replace(lr=0.1).flat()["entropy"] == 0.6
    assert Settings(lambda2=0.6).controllers.lambda2 == 0.6


def test_errors_of_python_name_the_flat_key() -> None:
    with pytest.raises(SettingsError, match=r"^settings: dropout: input should be less than 1"):
        Settings(dropout=2)
    with pytest.raises(SettingsError, match=r"^settings: backbone grand .* consistency above 0"):
        Settings(backbone="grand")
    with pytest.raises(SettingsError, match="no metric 'auc'"):
        Settings(metric="auc")
    with pytest.raises(SettingsError, match="unknown key 'epoch'; did you mean 'epochs'"):
        Settings(epoch=3)
    with pytest.raises(SettingsError, match="alpha is no setting of gcn"):
        Settings(backbone="gcn", alpha=0.2)
    with pytest.raises(SettingsError, match="max_steps: 0 is for the bare backbone alone"):
        Settings.read({"max_steps": 0})
    with pytest.raises(SettingsError, match="a measure stands twice"):
        Settings(measures=("degree", "degree"))


def test_the_word_of_version_0_1_for_the_selection_is_read() -> None:
    assert Settings(selection="accuracy").training.selection == "score"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Upper", "use small letters"),
        (3, "use small letters"),
        ("gcn", "the package has one; choose another name"),
    ],
)
def test_names_of_parts(name: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        BACKBONES.register(name, pytest.Item)

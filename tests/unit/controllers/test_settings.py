"""The settings of the operator: how long questions stay open where no author says so."""

import pytest

from compozy.controllers.settings import EXPIRE_VARIABLES, SettingsInvalid, from_environment

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("profile", EXPIRE_VARIABLES)
def test_each_profile_has_an_expiry_of_its_own(profile):
    assert from_environment({EXPIRE_VARIABLES[profile]: "72h"}).expire_after == {profile: 259_200.0}


@pytest.mark.parametrize("environ", [{}, dict.fromkeys(EXPIRE_VARIABLES.values(), "")])
def test_an_empty_setting_leaves_expiry_to_the_authors(environ):
    assert from_environment(environ).expire_after == {}


@pytest.mark.parametrize("duration", ["soon", "-1h", "0s"])
def test_a_setting_that_is_no_positive_duration_is_refused_by_name(duration):
    variable = EXPIRE_VARIABLES["watch"]
    with pytest.raises(SettingsInvalid, match=variable):
        from_environment({variable: duration})

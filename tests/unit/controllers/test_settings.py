"""The settings of the operator: how long questions stay open where no author says so; the webhook."""

from datetime import timedelta
from pathlib import Path

import pytest

from compozy.controllers.settings import EXPIRE_VARIABLES, SettingsInvalid, WebhookSettings, from_environment

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


WEBHOOK = {"COMPOZY_WEBHOOK_LISTEN": "0.0.0.0:9443"}


def test_there_is_no_webhook_unless_it_is_told_where():
    assert from_environment({"COMPOZY_WEBHOOK_CERTIFICATES": "/certificates"}).webhook is None


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, WebhookSettings("0.0.0.0", 9443, None, timedelta(days=90))),
        ({"COMPOZY_WEBHOOK_CERTIFICATES": "/tls"}, WebhookSettings("0.0.0.0", 9443, Path("/tls"))),
        (
            {"COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME": "24h"},
            WebhookSettings("0.0.0.0", 9443, None, timedelta(days=1)),
        ),
    ],
)
def test_the_webhook_has_its_own_certificates_or_those_of_others(more, expected):
    assert from_environment({**WEBHOOK, **more}).webhook == expected


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("COMPOZY_WEBHOOK_LISTEN", "9443"),
        ("COMPOZY_WEBHOOK_LISTEN", "0.0.0.0:99999"),
        ("COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME", "soon"),
        ("COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME", "11s"),
        ("COMPOZY_WEBHOOK_CERTIFICATE_LIFETIME", "87601h"),
    ],
)
def test_a_webhook_that_cannot_be_is_refused_by_name(variable, value):
    with pytest.raises(SettingsInvalid, match=variable):
        from_environment({**WEBHOOK, variable: value})

from __future__ import annotations

import base64
import datetime
import ipaddress
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from controlplane import kubeconfigs
from controlplane.credentials import KeyPair, issue_client, issue_server, new_authority

pytestmark = pytest.mark.unit

SERVER = "https://127.0.0.1:6443"


@pytest.fixture(scope="module")
def authority() -> KeyPair:
    return new_authority("test")


def trusting(authority: KeyPair) -> PolicyBuilder:
    return PolicyBuilder().store(Store([x509.load_pem_x509_certificate(authority.certificate)]))


def names(certificate: x509.Certificate, oid: x509.ObjectIdentifier) -> list[str | bytes]:
    return [attribute.value for attribute in certificate.subject.get_attributes_for_oid(oid)]


def test_the_server_is_trusted_under_its_address(authority: KeyPair) -> None:
    pair = issue_server(authority, "kube-apiserver", ["127.0.0.1", "localhost"])
    certificate = x509.load_pem_x509_certificate(pair.certificate)

    for subject in (x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost")):
        trusting(authority).build_server_verifier(subject).verify(certificate, [])
    with pytest.raises(VerificationError):
        stranger = x509.IPAddress(ipaddress.ip_address("127.0.0.2"))
        trusting(authority).build_server_verifier(stranger).verify(certificate, [])
    with pytest.raises(VerificationError):
        trusting(new_authority("test")).build_server_verifier(x509.DNSName("localhost")).verify(certificate, [])


def test_a_client_is_its_user_in_its_groups(authority: KeyPair) -> None:
    certificate = x509.load_pem_x509_certificate(issue_client(authority, "alice", ["dev", "ops"]).certificate)

    assert names(certificate, NameOID.COMMON_NAME) == ["alice"]
    assert names(certificate, NameOID.ORGANIZATION_NAME) == ["dev", "ops"]
    assert certificate.not_valid_before_utc < datetime.datetime.now(datetime.UTC)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.certificate))


@pytest.mark.parametrize(("user", "groups"), [("", []), ("a" * 65, []), ("alice", [""]), ("alice", ["g" * 65])])
def test_names_that_no_certificate_can_hold(authority: KeyPair, user: str, groups: list[str]) -> None:
    with pytest.raises(ValueError, match="1 to 64 characters"):
        issue_client(authority, user, groups)


def test_a_kubeconfig_needs_no_other_file(authority: KeyPair, tmp_path: Path) -> None:
    pair = issue_client(authority, "alice")
    config = kubeconfigs.with_certificate(SERVER, authority.certificate, "alice", pair)
    path = kubeconfigs.write(tmp_path / "kubeconfig", config)

    assert path.stat().st_mode & 0o777 == 0o600
    read = kubeconfigs.read(path)
    assert read["current-context"] == "compozy"
    assert read["contexts"] == [{"name": "compozy", "context": {"cluster": "compozy", "user": "alice"}}]
    assert read["clusters"][0]["name"] == "compozy"
    assert read["clusters"][0]["cluster"]["server"] == SERVER
    assert base64.b64decode(read["clusters"][0]["cluster"]["certificate-authority-data"]) == authority.certificate
    user = read["users"][0]
    assert user["name"] == "alice"
    assert base64.b64decode(user["user"]["client-certificate-data"]) == pair.certificate
    assert load_pem_private_key(base64.b64decode(user["user"]["client-key-data"]), None)


def test_a_token_replaces_the_certificate(authority: KeyPair) -> None:
    admin = kubeconfigs.with_certificate(SERVER, authority.certificate, "admin", issue_client(authority, "admin"))

    config = kubeconfigs.with_token(admin, "system:serviceaccount:default:bot", "secret")

    assert config["users"] == [{"name": "system:serviceaccount:default:bot", "user": {"token": "secret"}}]
    assert config["clusters"] == admin["clusters"]


def test_impersonation_keeps_the_credentials_and_the_original(authority: KeyPair) -> None:
    admin = kubeconfigs.with_certificate(SERVER, authority.certificate, "admin", issue_client(authority, "admin"))

    config = kubeconfigs.impersonating(admin, "alice", ["dev"])

    assert config["users"][0]["user"] == admin["users"][0]["user"] | {"as": "alice", "as-groups": ["dev"]}
    assert "as" not in admin["users"][0]["user"]


def test_file_names_tell_users_and_groups_apart() -> None:
    identities = [
        ("alice", ()),
        ("alice", ("dev",)),
        ("alice", ("dev", "ops")),
        ("alice", ("ops", "dev")),
        ("system:serviceaccount:a:b", ()),
        ("system-serviceaccount-a-b", ()),
        ("../../etc/passwd", ()),
    ]
    found = [kubeconfigs.file_name(user, groups) for user, groups in identities]
    assert len(set(found)) == len(identities)
    assert not any("/" in name for name in found)

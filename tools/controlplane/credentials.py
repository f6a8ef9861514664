"""Certificates and keys of one run: two authorities, the servers' certificates, clients on demand.

etcd trusts an authority of its own: a client certificate for the API server must not open the store.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOOPBACK = "127.0.0.1"
_VALID_FOR = datetime.timedelta(days=365)
_CLOCK_SKEW = datetime.timedelta(minutes=5)
_BOTH_USES = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
_CLIENT_USE = (ExtendedKeyUsageOID.CLIENT_AUTH,)


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, stem: Path) -> None:
        """Write ``STEM.crt`` and ``STEM.key`` (readable by the owner alone)."""
        stem.with_suffix(".crt").write_bytes(self.certificate)
        write_private(stem.with_suffix(".key"), self.key)

    @classmethod
    def read(cls, stem: Path) -> KeyPair:
        """Read what `write` wrote."""
        return cls(stem.with_suffix(".crt").read_bytes(), stem.with_suffix(".key").read_bytes())


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, and that is whole whenever it is read."""
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    Path(unfinished).rename(path)


def write_signing_key(stem: Path) -> None:
    """Write a fresh key that signs tokens: ``STEM.key`` to sign with, ``STEM.pub`` to verify with."""
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(stem.with_suffix(".key"), _pem(key))
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    stem.with_suffix(".pub").write_bytes(public)


def new_authority(common_name: str) -> KeyPair:
    """A fresh self-signed certificate authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common_name, ())
    builder = (
        _builder(name, key)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return KeyPair(_pem_certificate(builder.sign(key, hashes.SHA256())), _pem(key))


def issue_server(authority: KeyPair, common_name: str, hosts: Sequence[str]) -> KeyPair:
    """A certificate for a server that is reached under ``hosts``; etcd uses its own as a client too."""
    names = [_general_name(host) for host in hosts]
    return _issue(authority, _name(common_name, ()), _BOTH_USES, x509.SubjectAlternativeName(names))


def issue_client(authority: KeyPair, user: str, groups: Sequence[str] = ()) -> KeyPair:
    """A certificate that Kubernetes authenticates as ``user`` in ``groups``.

    Raises `ValueError` when a name is empty or longer than the 64 characters that X.509 allows.
    """
    for name in (user, *groups):
        if not 1 <= len(name) <= 64:
            raise ValueError(f"a client certificate holds names of 1 to 64 characters, not {name!r}")
    return _issue(authority, _name(user, groups), _CLIENT_USE, None)


def _issue(
    authority: KeyPair,
    subject: x509.Name,
    uses: Sequence[x509.ObjectIdentifier],
    alternatives: x509.SubjectAlternativeName | None,
) -> KeyPair:
    issuer_key = serialization.load_pem_private_key(authority.key, password=None)
    assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _builder(subject, key)
        .issuer_name(x509.load_pem_x509_certificate(authority.certificate).subject)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        # Python 3.13 and later refuse a chain without key identifiers.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    if alternatives is not None:
        builder = builder.add_extension(alternatives, critical=False)
    return KeyPair(_pem_certificate(builder.sign(issuer_key, hashes.SHA256())), _pem(key))


def _builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _VALID_FOR)
    )


def _name(common_name: str, organizations: Sequence[str]) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organizations]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _pem_certificate(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)

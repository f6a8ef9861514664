"""Makes an authority with a certificate for the server, and reads one back."""

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from compozy.controllers.webhook.issues import Issue

CLOCK_SKEW = timedelta(minutes=5)
"""By so much other clocks may be behind ours: certificates are good from that long before they are made."""


def make_issue(hosts: Iterable[str], now: datetime, lifetime: timedelta) -> Issue:
    """Return a fresh authority and a certificate of it for `hosts`, names or addresses.

    The authority's key signs once and is then forgotten: nobody can ever sign a second certificate with it.
    """
    made_at = now.replace(microsecond=0)
    expires_at = made_at + lifetime
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _name("compozy-webhook-ca")
    authority = (
        _builder(issuer, issuer, authority_key.public_key(), made_at, expires_at)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    certificate = (
        _builder(_name("compozy-webhook"), issuer, key.public_key(), made_at, expires_at)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_general(host) for host in sorted(hosts)]), critical=False)
        .add_extension(identifier, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return read_issue(_pem(authority), _pem(certificate), _pem_key(key))


def read_issue(authority: bytes, certificate: bytes, key: bytes) -> Issue:
    """Return an issue that was stored as PEM. Raises ValueError where it is none."""
    x509.load_pem_x509_certificate(authority)
    read = x509.load_pem_x509_certificate(certificate)
    private = serialization.load_pem_private_key(key, password=None)
    if private.public_key() != read.public_key():
        raise ValueError("the key is not that of the certificate")
    try:
        names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise ValueError("the certificate names no host") from None
    hosts = [*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress))]
    made_at = read.not_valid_before_utc.astimezone(UTC) + CLOCK_SKEW
    return Issue(authority, certificate, key, frozenset(hosts), made_at, read.not_valid_after_utc.astimezone(UTC))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    made_at: datetime,
    expires_at: datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(made_at - CLOCK_SKEW)
        .not_valid_after(expires_at)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _pem_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption())

"""Kubeconfig files: with a client certificate, with a token, or with an impersonated user."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from controlplane.credentials import KeyPair, write_private

Kubeconfig = dict[str, Any]


def with_certificate(server: str, authority: bytes, user: str, pair: KeyPair) -> Kubeconfig:
    """A kubeconfig that needs no other file; ``authority`` is the PEM of the server's authority."""
    credentials = {
        "client-certificate-data": _encoded(pair.certificate),
        "client-key-data": _encoded(pair.key),
    }
    cluster = {"server": server, "certificate-authority-data": _encoded(authority)}
    return _kubeconfig(cluster, user, credentials)


def with_token(other: Kubeconfig, user: str, token: str) -> Kubeconfig:
    """A kubeconfig for the cluster of ``other`` (which holds one), authenticated by a bearer token."""
    return _kubeconfig(copy.deepcopy(other["clusters"][0]["cluster"]), user, {"token": token})


def impersonating(other: Kubeconfig, user: str, groups: Sequence[str]) -> Kubeconfig:
    """``other`` (which holds one user) with requests made as ``user`` in ``groups``."""
    changed = copy.deepcopy(other)
    changed["users"][0]["user"] |= {"as": user, "as-groups": list(groups)}
    return changed


def write(path: Path, kubeconfig: Kubeconfig) -> Path:
    """Write a kubeconfig that only its owner can read, and return its path."""
    write_private(path, yaml.safe_dump(kubeconfig, sort_keys=False).encode())
    return path


def read(path: Path) -> Kubeconfig:
    """Read a kubeconfig file."""
    loaded: Kubeconfig = yaml.safe_load(path.read_text())
    return loaded


def file_name(user: str, groups: Sequence[str]) -> str:
    """A file name for a user: readable, and different for different users or groups."""
    digest = hashlib.sha256("\0".join((user, *groups)).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', user)}-{digest}.kubeconfig"


def _kubeconfig(cluster: dict[str, Any], user: str, credentials: dict[str, str]) -> Kubeconfig:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "compozy", "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": "compozy", "context": {"cluster": "compozy", "user": user}}],
        "current-context": "compozy",
    }


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()

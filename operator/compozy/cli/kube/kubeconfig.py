"""Finds out which cluster to speak to and as whom, with kubectl's rules.

This is our own loader because importing the official client costs half a second of CPU, more than all
else that a command of the plugin does. It reads `KUBECONFIG` lists (the first file to say something
wins), `--kubeconfig`, `--context`, `--cluster`, `--user`, and a pod's own service account where there is
no kubeconfig. `auth-provider`, which Kubernetes removed, is refused with a message.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compozy.cli.kube.access import Access, ConfigError, ExecPlugin, Impersonation, Selection

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_ENTRY_LISTS = {"clusters": "cluster", "contexts": "context", "users": "user"}
_FILE_KEYS = {
    "clusters": ("certificate-authority",),
    "users": ("client-certificate", "client-key", "tokenFile"),
    "contexts": (),
}


def load_access(
    selection: Selection, environ: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT
) -> Access:
    """The access that kubectl would use for this selection.

    Raises ConfigError when a file cannot be read or a name in it does not exist.
    """
    merged = merge(_read(path) for path in _config_files(selection, environ))
    if merged is None:
        access = _in_cluster(environ, service_account)
        if access is None:
            raise ConfigError(_why_none(selection, environ))
    else:
        access = _from_config(merged, selection)
    return _with_flags(access, selection)


def _config_files(selection: Selection, environ: Mapping[str, str]) -> list[Path]:
    """The files to merge. A file named by flag must exist; others are left out when they do not."""
    if selection.kubeconfig:
        path = Path(selection.kubeconfig).expanduser()
        if not path.is_file():
            raise ConfigError(f"kubeconfig {path} does not exist")
        return [path]
    paths = _listed(environ) or [Path(environ.get("HOME") or Path.home()) / ".kube" / "config"]
    return [path for path in dict.fromkeys(paths) if path.is_file()]


def _listed(environ: Mapping[str, str]) -> list[Path]:
    """The files that the environment names."""
    return [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]


def _why_none(selection: Selection, environ: Mapping[str, str]) -> str:
    """Why no cluster is known, and what to do about it."""
    listed = [] if selection.kubeconfig else _listed(environ)
    if listed and not any(path.is_file() for path in listed):
        names = ", ".join(map(str, dict.fromkeys(listed)))
        return (
            f"KUBECONFIG is set to {names}, and no such file is there: "
            "set it to a file that is, or unset it to use ~/.kube/config"
        )
    return "no cluster is configured: set KUBECONFIG or give --kubeconfig FILE"


def _read(path: Path) -> dict[str, Any]:
    """One kubeconfig with its entries by name and its relative paths made absolute."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(path.read_text("utf-8"), Loader=loader)  # noqa: S506 - both loaders are safe
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"kubeconfig {path} is not a mapping")
    config: dict[str, Any] = {"current-context": document.get("current-context") or ""}
    for plural, singular in _ENTRY_LISTS.items():
        entries = config[plural] = {}
        for item in document.get(plural) or []:
            if not isinstance(item, dict) or not isinstance(item.get("name"), str):
                raise ConfigError(f"kubeconfig {path}: every entry of `{plural}` must have a name")
            entry = dict(item.get(singular) or {})
            entries.setdefault(item["name"], _absolute(entry, _FILE_KEYS[plural], path.parent))
    return config


def _absolute(entry: dict[str, Any], keys: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Paths in a kubeconfig are relative to the file that names them."""
    for key in keys:
        if entry.get(key):
            entry[key] = str(folder.absolute() / entry[key])
    command = (entry.get("exec") or {}).get("command")
    if command and os.sep in command:
        entry["exec"] = {**entry["exec"], "command": str(folder.absolute() / command)}
    return entry


def merge(configs: Any) -> dict[str, Any] | None:
    """Merges kubeconfigs: for every name, and for `current-context`, the first file that has it wins.

    None when no file says anything.
    """
    merged: dict[str, Any] = {"current-context": "", **{plural: {} for plural in _ENTRY_LISTS}}
    for config in configs:
        merged["current-context"] = merged["current-context"] or config.get("current-context", "")
        for plural in _ENTRY_LISTS:
            merged[plural] = {**config.get(plural, {}), **merged[plural]}
    return merged if any(merged.values()) else None


def _from_config(config: dict[str, Any], selection: Selection) -> Access:
    """Follows the context to its cluster and user."""
    context_name = selection.context or config["current-context"]
    context: dict[str, Any] = {}
    if context_name:
        context = _entry(config, "contexts", context_name)
    cluster_name = selection.cluster or context.get("cluster")
    if not cluster_name:
        raise ConfigError("the kubeconfig has no current-context: give --context NAME")
    user_name = selection.user or context.get("user")
    cluster = _entry(config, "clusters", cluster_name)
    user = _entry(config, "users", user_name) if user_name else {}
    access = _access_of_cluster(cluster, cluster_name)
    access = _with_user(access, user, user_name or "")
    return replace(access, namespace=context.get("namespace") or "default")


def _entry(config: dict[str, Any], plural: str, name: str) -> dict[str, Any]:
    entries: dict[str, dict[str, Any]] = config[plural]
    if name not in entries:
        known = ", ".join(sorted(entries)) or "none"
        raise ConfigError(f"the kubeconfig has no {_ENTRY_LISTS[plural]} {name!r} (it has: {known})")
    return entries[name]


def _access_of_cluster(cluster: dict[str, Any], name: str) -> Access:
    server = cluster.get("server")
    if not server:
        raise ConfigError(f"cluster {name!r} of the kubeconfig has no server")
    ca_data = _data(cluster, "certificate-authority-data", f"cluster {name!r}")
    ca_file = None if ca_data else _path(cluster, "certificate-authority")
    told = {
        "server": server,
        "tls-server-name": cluster.get("tls-server-name"),
        "insecure-skip-tls-verify": cluster.get("insecure-skip-tls-verify"),
        "proxy-url": cluster.get("proxy-url"),
        "certificate-authority-data": cluster.get("certificate-authority-data"),
        "config": _exec_config(cluster),
    }
    return Access(
        server=str(server).rstrip("/"),
        ca_file=ca_file,
        ca_data=ca_data,
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        tls_server_name=cluster.get("tls-server-name"),
        proxy_url=cluster.get("proxy-url"),
        cluster_info={key: value for key, value in told.items() if value},
    )


def _exec_config(cluster: dict[str, Any]) -> Any:
    """What a cluster keeps for credential plugins, under a reserved extension name."""
    for extension in cluster.get("extensions") or []:
        if extension.get("name") == "client.authentication.k8s.io/exec":
            return extension.get("extension")
    return None


def _with_user(access: Access, user: dict[str, Any], name: str) -> Access:
    if user.get("auth-provider"):
        raise ConfigError(
            f"user {name!r} uses `auth-provider`, which Kubernetes has removed: use an `exec` plugin instead"
        )
    where = f"user {name!r}"
    cert_data = _data(user, "client-certificate-data", where)
    key_data = _data(user, "client-key-data", where)
    extra = {key: tuple(values) for key, values in (user.get("as-user-extra") or {}).items()}
    return replace(
        access,
        client_cert_data=cert_data,
        client_cert_file=None if cert_data else _path(user, "client-certificate"),
        client_key_data=key_data,
        client_key_file=None if key_data else _path(user, "client-key"),
        token=user.get("token"),
        token_file=_path(user, "tokenFile"),
        username=user.get("username"),
        password=user.get("password"),
        exec_plugin=_exec_plugin(user.get("exec"), where),
        impersonation=Impersonation(user.get("as"), user.get("as-uid"), tuple(user.get("as-groups") or ()), extra),
    )


def _exec_plugin(spec: dict[str, Any] | None, where: str) -> ExecPlugin | None:
    if not spec:
        return None
    if not spec.get("command") or not spec.get("apiVersion"):
        raise ConfigError(f"`exec` of {where} needs `apiVersion` and `command`")
    return ExecPlugin(
        api_version=spec["apiVersion"],
        command=spec["command"],
        args=tuple(str(argument) for argument in spec.get("args") or ()),
        env=tuple((item["name"], str(item.get("value", ""))) for item in spec.get("env") or ()),
        interactive_mode=spec.get("interactiveMode") or "IfAvailable",
        provide_cluster_info=bool(spec.get("provideClusterInfo")),
        install_hint=spec.get("installHint") or "",
    )


def _data(entry: dict[str, Any], key: str, where: str) -> bytes | None:
    value = entry.get(key)
    if not value:
        return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ConfigError(f"`{key}` of {where} is not base64") from error


def _path(entry: dict[str, Any], key: str) -> Path | None:
    return Path(entry[key]) if entry.get(key) else None


def _in_cluster(environ: Mapping[str, str], folder: Path) -> Access | None:
    """A pod's own access: the service account files that the kubelet mounts."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    token_file = folder / "token"
    if not host or not port or not token_file.is_file():
        return None
    if ":" in host:
        host = f"[{host}]"
    namespace_file = folder / "namespace"
    namespace = namespace_file.read_text("utf-8").strip() if namespace_file.is_file() else ""
    return Access(
        server=f"https://{host}:{port}",
        namespace=namespace or "default",
        ca_file=folder / "ca.crt",
        token_file=token_file,
    )


def _with_flags(access: Access, selection: Selection) -> Access:
    """Flags win over the kubeconfig. Groups or a uid to act as need a user to act as, as in kubectl."""
    own = access.impersonation
    acting = Impersonation(
        selection.as_user or own.user,
        selection.as_uid or own.uid,
        selection.as_groups or own.groups,
        {} if selection.as_user else own.extra,
    )
    if not acting.user and (acting.uid or acting.groups):
        raise ConfigError("--as-group and --as-uid need --as USER")
    return replace(access, namespace=selection.namespace or access.namespace, impersonation=acting)

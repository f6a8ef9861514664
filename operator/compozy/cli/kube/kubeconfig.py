"""Finds out which cluster to speak to and as whom, with kubectl's rules.

This is our own loader because importing the official client costs half a second of CPU, more than all
else that a command of the plugin does. It reads `KUBECONFIG` lists (the first file to say something
wins), `--kubeconfig`, `--context`, `--cluster`, `--user`, and a pod's own service account where there is
no kubeconfig. `auth-provider`, which Kubernetes removed, is refused with a message.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compozy.cli.kube.access import (
    Access,
    ConfigError,
    ExecPlugin,
    Impersonation,
    Selection,
    check_header,
)
from compozy.cli.kube.fields import ENTRY_LISTS, check_entry, check_file

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

_FILE_KEYS = {
    "clusters": ("certificate-authority",),
    "users": ("client-certificate", "client-key", "tokenFile"),
    "contexts": (),
}

_INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
_LONGEST_TLS_NAME = 255


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
        path = Path(os.path.expanduser(selection.kubeconfig))  # noqa: PTH111 - Path's raises for users unknown
        if not _is_there(path):
            raise ConfigError(f"kubeconfig {path} does not exist")
        return [path]
    paths = _listed(environ) or [Path(environ.get("HOME") or Path.home()) / ".kube" / "config"]
    return [path for path in dict.fromkeys(paths) if _is_there(path)]


def _is_there(path: Path) -> bool:
    """Whether there is something to read: a file, or a pipe as a shell's `<(command)` makes it."""
    try:
        if path.is_dir():
            raise ConfigError(f"kubeconfig {path} is a directory: name a file in it")
        return path.exists()
    except OSError as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error.strerror}") from error


def _listed(environ: Mapping[str, str]) -> list[Path]:
    """The files that the environment names."""
    return [Path(part) for part in environ.get("KUBECONFIG", "").split(os.pathsep) if part]


def _why_none(selection: Selection, environ: Mapping[str, str]) -> str:
    """Why no cluster is known, and what to do about it."""
    listed = [] if selection.kubeconfig else _listed(environ)
    if listed and not any(_is_there(path) for path in listed):
        names = ", ".join(map(str, dict.fromkeys(listed)))
        return (
            f"KUBECONFIG is set to {names}, and no such file is there: "
            "set it to a file that is, or unset it to use ~/.kube/config"
        )
    return "no cluster is configured: set KUBECONFIG or give --kubeconfig FILE"


def _read(path: Path) -> dict[str, Any]:
    """One kubeconfig with its entries by name and its relative paths made absolute."""
    document = _document(path)
    check_file(document, f"kubeconfig {path}")
    config: dict[str, Any] = {"current-context": document.get("current-context") or ""}
    for plural, singular in ENTRY_LISTS.items():
        entries = config[plural] = {}
        for item in document.get(plural) or []:
            if not isinstance(item.get("name"), str):
                raise ConfigError(f"kubeconfig {path}: every entry of `{plural}` must have a name")
            entry = dict(item.get(singular) or {})
            check_entry(entry, plural, item["name"], f"kubeconfig {path}")
            entries.setdefault(item["name"], _absolute(entry, _FILE_KEYS[plural], path.parent))
    return config


def _document(path: Path) -> dict[str, Any]:
    """What a file says, as a mapping of anything."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(path.read_text("utf-8"), Loader=loader)  # noqa: S506 - both loaders are safe
    except OSError as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error.strerror}") from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        # Not the error's own words, and not as its cause: they quote the file, which is full of secrets.
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(f"cannot read kubeconfig {path}: it is not valid YAML{place}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"kubeconfig {path} is not a mapping")
    return document


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
    merged: dict[str, Any] = {"current-context": "", **{plural: {} for plural in ENTRY_LISTS}}
    for config in configs:
        merged["current-context"] = merged["current-context"] or config.get("current-context", "")
        for plural in ENTRY_LISTS:
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
        raise ConfigError(f"the kubeconfig has no {ENTRY_LISTS[plural]} {name!r} (it has: {known})")
    return entries[name]


def _access_of_cluster(cluster: dict[str, Any], name: str) -> Access:
    server = cluster.get("server")
    if not server:
        raise ConfigError(f"cluster {name!r} of the kubeconfig has no server")
    where = f"cluster {name!r}"
    ca_data = _data(cluster, "certificate-authority-data", where)
    ca_file = None if ca_data else _path(cluster, "certificate-authority")
    insecure = cluster.get("insecure-skip-tls-verify") or False
    if insecure and (ca_data or ca_file):
        raise ConfigError(
            f"`insecure-skip-tls-verify` of {where} cannot be true together with a certificate authority: "
            "take away one of them"
        )
    told = {
        "server": server,
        "tls-server-name": cluster.get("tls-server-name"),
        "insecure-skip-tls-verify": cluster.get("insecure-skip-tls-verify"),
        "proxy-url": cluster.get("proxy-url"),
        "certificate-authority-data": cluster.get("certificate-authority-data"),
        "config": _exec_config(cluster),
    }
    return Access(
        server=server.rstrip("/"),
        ca_file=ca_file,
        ca_data=ca_data,
        insecure=insecure,
        tls_server_name=_tls_server_name(cluster, where),
        proxy_url=cluster.get("proxy-url"),
        cluster_info={key: value for key, value in told.items() if value},
    )


def _tls_server_name(cluster: dict[str, Any], where: str) -> str | None:
    """The name that the server's certificate must have. Raises ConfigError for what TLS cannot ask for."""
    name: str | None = cluster.get("tls-server-name")
    if not name:
        return None
    try:
        sent = name.encode("idna")
    except UnicodeError:
        sent = b""
    if not sent or sent.startswith(b".") or len(sent) > _LONGEST_TLS_NAME:
        raise ConfigError(f"`tls-server-name` of {where} is no name that a server can have")
    return name


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
    _check_methods(user, where)
    cert_data = _data(user, "client-certificate-data", where)
    key_data = _data(user, "client-key-data", where)
    cert_file = None if cert_data else _path(user, "client-certificate")
    key_file = None if key_data else _path(user, "client-key")
    for field, here, other in (
        ("client-key", key_data or key_file, cert_data or cert_file),
        ("client-certificate", cert_data or cert_file, key_data or key_file),
    ):
        if other and not here:
            raise ConfigError(
                f"`{field}-data` or `{field}` must be specified for {where}: it has only the other half"
            )
    return replace(
        access,
        client_cert_data=cert_data,
        client_cert_file=cert_file,
        client_key_data=key_data,
        client_key_file=key_file,
        token=user.get("token"),
        token_file=_path(user, "tokenFile"),
        username=user.get("username") or None,
        password=user.get("password"),
        exec_plugin=_exec_plugin(user.get("exec"), where),
        impersonation=_impersonation(user, where),
    )


def _check_methods(user: dict[str, Any], where: str) -> None:
    """Raises ConfigError for a user of whom it is not clear how to prove who they are."""
    check_header(user.get("token") or "", f"the token of {where}")
    if (user.get("token") or user.get("tokenFile")) and (user.get("username") or user.get("password")):
        raise ConfigError(f"{where} has both a token and `username` or `password`: only one of them is allowed")


def _impersonation(user: dict[str, Any], where: str) -> Impersonation:
    extra = {key: tuple(values or ()) for key, values in (user.get("as-user-extra") or {}).items()}
    acting = Impersonation(user.get("as"), user.get("as-uid"), tuple(user.get("as-groups") or ()), extra)
    fields = {"user": "as", "uid": "as-uid", "groups": "as-groups", "extra": "as-user-extra"}
    _check_impersonation(acting, {key: f"`{name}` of {where}" for key, name in fields.items()})
    return acting


def _check_impersonation(acting: Impersonation, names: Mapping[str, str]) -> None:
    """Raises ConfigError for what no header can carry; `names` are for the message."""
    for value, name in ((acting.user, "user"), (acting.uid, "uid")):
        check_header(value or "", names[name])
    for group in acting.groups:
        check_header(group, names["groups"])
    for values in acting.extra.values():
        for value in values:
            check_header(value, names["extra"])


def _exec_plugin(spec: dict[str, Any] | None, where: str) -> ExecPlugin | None:
    if not spec:
        return None
    if not spec.get("command") or not spec.get("apiVersion"):
        raise ConfigError(f"`exec` of {where} needs `apiVersion` and `command`")
    mode = spec.get("interactiveMode") or "IfAvailable"
    if mode not in _INTERACTIVE_MODES:
        raise ConfigError(f"`exec.interactiveMode` of {where} must be one of {', '.join(_INTERACTIVE_MODES)}")
    env = tuple((item.get("name") or "", item.get("value") or "") for item in spec.get("env") or ())
    for index, (name, _) in enumerate(env):
        if not name or "=" in name:
            raise ConfigError(f"`exec.env[{index}].name` of {where} must be a name without `=`")
    return ExecPlugin(
        api_version=spec["apiVersion"],
        command=spec["command"],
        args=tuple(spec.get("args") or ()),
        env=env,
        interactive_mode=mode,
        provide_cluster_info=spec.get("provideClusterInfo") or False,
        install_hint=spec.get("installHint") or "",
    )


def _data(entry: dict[str, Any], key: str, where: str) -> bytes | None:
    """The bytes of a field in base64, which may be wrapped. None where it is left out or empty."""
    text = entry.get(key) or ""
    try:
        return base64.b64decode(b"".join(text.encode("ascii").split()), validate=True) or None
    except ValueError:
        # Without its cause, which may have the value in it.
        raise ConfigError(f"`{key}` of {where} is not base64") from None


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
    try:
        namespace = namespace_file.read_text("utf-8").strip() if namespace_file.is_file() else ""
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {namespace_file}: {error}") from error
    return Access(
        server=f"https://{host}:{port}",
        namespace=namespace or "default",
        ca_file=folder / "ca.crt",
        token_file=token_file,
    )


def _with_flags(access: Access, selection: Selection) -> Access:
    """Flags win over the kubeconfig. Groups, a uid or extras to act with need a user to act as, as in kubectl."""
    own = access.impersonation
    acting = Impersonation(
        selection.as_user or own.user,
        selection.as_uid or own.uid,
        selection.as_groups or own.groups,
        {} if selection.as_user else own.extra,
    )
    if not acting.user and (acting.uid or acting.groups or acting.extra):
        raise ConfigError("a uid, groups or user-extra to act with need --as USER, or `as` in the kubeconfig")
    flags = {"user": "--as", "uid": "--as-uid", "groups": "--as-group", "extra": "`as-user-extra`"}
    _check_impersonation(acting, flags)
    return replace(access, namespace=selection.namespace or access.namespace, impersonation=acting)

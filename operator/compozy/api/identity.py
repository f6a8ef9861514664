"""Who is who: the user names that policies and RBAC speak of."""

OPERATOR_NAMESPACE = "compozy-system"
OPERATOR_ACCOUNT = "compozy-operator"
SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"

OPERATOR_USER = f"{SERVICE_ACCOUNT_PREFIX}{OPERATOR_NAMESPACE}:{OPERATOR_ACCOUNT}"
"""The operator, as the API server names it."""

CLUSTER_KEEPERS = (
    f"{SERVICE_ACCOUNT_PREFIX}kube-system:generic-garbage-collector",
    f"{SERVICE_ACCOUNT_PREFIX}kube-system:namespace-controller",
    "system:kube-controller-manager",
)
"""Who removes finalizers and owners of any object when things are deleted. The last name is what both are
called where the controller manager runs without an account for each controller."""

ADMINISTRATORS = "system:masters"
"""The group of those who pass any RBAC, and repair what is stuck."""

//go:build tools

// Package kubernetes pins the Kubernetes server programs that tests run against.
package kubernetes

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)

//go:build tools

// Package etcd pins the store that the API server of the tests writes to.
package etcd

import _ "go.etcd.io/etcd/server/v3"

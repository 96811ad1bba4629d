// One binary with the parts of a Kubernetes control plane that tests need. It is the part that it is called by:
// links named etcd, kube-apiserver, kube-controller-manager and kubectl point to it. One binary, because each would
// link the same libraries for a minute.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	switch part := filepath.Base(os.Args[0]); part {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(manager.NewControllerManagerCommand()))
	case "kubectl":
		os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand()))
	default:
		fmt.Fprintf(os.Stderr, "%s: call this by a link named etcd, kube-apiserver, kube-controller-manager or kubectl\n", part)
		os.Exit(2)
	}
}

# First program in the network namespace of a cluster. Connects the namespace with the host by a veth pair, then
# continues as the first process of a PID namespace. The addresses are of the range for benchmarks (RFC 2544), which
# no network uses: 198.18.N.0/24 for Services, 198.19.N.0/25 for pods, 198.19.N.254 for the node.
set -e
host() { nsenter --target "$KS_SUPERVISOR" --net "$@"; }

cluster=0
until ip link add eth0 type veth peer name "ks-cluster$cluster" netns "$KS_SUPERVISOR" 2>/dev/null; do
  cluster=$((cluster + 1))
  if [ "$cluster" -gt 15 ]; then
    echo "no veth pair could be created: $(ip link add eth0 type veth peer name ks-cluster15 netns "$KS_SUPERVISOR" 2>&1)" >&2
    exit 1
  fi
done

ip link set lo up
ip address add "198.19.$cluster.254/30" dev eth0
ip link set eth0 up
ip route add default via "198.19.$cluster.253"
host ip address add "198.19.$cluster.253/30" dev "ks-cluster$cluster"
host ip link set "ks-cluster$cluster" up
host ip route add "198.18.$cluster.0/24" via "198.19.$cluster.254"
host ip route add "198.19.$cluster.0/25" via "198.19.$cluster.254"

KS_CLUSTER=$cluster exec unshare --pid --fork --kill-child sh "$(dirname "$0")/init.sh" "$@"

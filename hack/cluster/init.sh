# First process of the PID namespace of a cluster: all processes of the cluster end with it. Hides what the node would
# write to the machine: /run and /var are copies in memory, and kubelet finds its kernel parameters already set.
# Arguments: folder of the Debian packages, the program of the node, its arguments.
set -e
read -r KS_CLUSTER_PID rest </proc/self/stat # as the host sees it, because /proc is still the one of the host
export KS_CLUSTER_PID

mount -t proc proc /proc
mount -t tmpfs -o mode=755,size=6g tmpfs /run
state=/run/ks-cluster
mkdir -p "$state/var" "$state/work" "$state/sysctl" /run/lock
mount -t overlay overlay -o "lowerdir=/var,upperdir=$state/var,workdir=$state/work" /var

parameter() {
  file=$state/sysctl/$(echo "$1" | tr / .)
  echo "$2" >"$file"
  mount --bind "$file" "/proc/sys/$1"
}
parameter vm/overcommit_memory 1
parameter vm/panic_on_oom 0
parameter kernel/panic 10
parameter kernel/panic_on_oops 1
parameter kernel/keys/root_maxkeys 1000000
parameter kernel/keys/root_maxbytes 25000000
echo 1 >/proc/sys/net/ipv4/ip_forward
# Without cluster DNS, kube-apiserver resolves the issuer of the server here.
cat /etc/hosts >"$state/hosts"
mount --bind "$state/hosts" /etc/hosts
echo ks-node >/proc/sys/kernel/hostname

# The shell also reaps the processes that containerd leaves behind.
sh "$(dirname "$0")/with-libraries.sh" "$@" </dev/null &
wait $!

# Supervisor of a cluster, outside its namespaces. Ends the cluster when file descriptor 3 is closed, which happens when
# the caller exits in any way, and then removes its cgroups, which the kernel does not remove with the namespaces.
# Arguments: folder of the Debian packages, the program of the node, its arguments.
here=$(dirname "$0")
# A closed output must not end the supervisor. The programs of the cluster do not inherit this trap, as they would `trap '' PIPE`.
trap : PIPE
cgroups() { find /sys/fs/cgroup -maxdepth 2 -type d -name "ks-cluster-$1"; }
remove() { cgroups "$1" | while read -r cgroup; do find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null; done; }

# Those of supervisors that were killed.
cgroups '*' | while read -r cgroup; do
  [ -d "/proc/${cgroup##*-}" ] || remove "${cgroup##*-}"
done

# kubelet and containerd need more inotify instances than many kernels allow for all programs of root together.
instances=/proc/sys/fs/inotify/max_user_instances
before=$(cat "$instances")
[ "$before" -ge 1024 ] || echo 1024 >"$instances"

# The kernel also ends the cluster when this shell dies.
KS_SUPERVISOR=$$ setpriv --pdeathsig KILL unshare --net --mount --uts --ipc sh "$here/network.sh" "$@" 3<&- &
cluster=$!
{ read -r nothing <&3; kill -s KILL "$cluster"; } >/dev/null 2>&1 &
watcher=$!
wait "$cluster"
code=$?
kill -s KILL "$watcher" 2>/dev/null
exec 3<&-
# The processes of the node exit some milliseconds after the supervisor of their namespace.
tries=0
while remove $$; [ -n "$(cgroups $$)" ] && [ "$tries" -lt 100 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
[ "$before" -ge 1024 ] || echo "$before" >"$instances"
exit "$code"

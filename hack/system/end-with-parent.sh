# Becomes the program of its arguments, the leader of its process group, and leaves behind one that waits until file
# descriptor 3 is closed, which the system does for whoever is killed, and then kills the group. It is there before the
# program is, so there is no moment between.
{ read -r nothing <&3; kill -s KILL -- "-$$"; } >/dev/null 2>&1 &
exec "$@" 3<&-

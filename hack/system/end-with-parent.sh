# Wrapper: becomes the program in its arguments, as leader of its process group. A background process waits until file
# descriptor 3 is closed, which happens when the parent dies in any way, and then kills the group. It starts before the
# program, so that the program cannot escape.
{ read -r nothing <&3; kill -s KILL -- "-$$"; } >/dev/null 2>&1 &
exec "$@" 3<&-

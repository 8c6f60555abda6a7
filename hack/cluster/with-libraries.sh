# Runs a program with the libraries of the unpacked Debian packages, in the mount namespace of this shell. LD_LIBRARY_PATH
# is not sufficient, because buildah starts itself without its environment.
# Arguments: folder of the packages, program, its arguments.
set -e
packages=$1
shift
for folder in "$packages"/usr/lib/*-linux-gnu; do
  name=${folder##*/}
  mount -t overlay overlay -o "lowerdir=$folder:$packages/lib/$name:/usr/lib/$name" "/usr/lib/$name"
done
exec "$@"

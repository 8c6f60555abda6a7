/** Returns true for a name that can be a segment of a path, as kube-apiserver requires of the names of all objects. */
export function isPathSegmentName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/%]/.test(name);
}

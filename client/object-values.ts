// Reads the members of objects, whose types depend on the kind and are not validated.

/** The value at a path such as `status.readyReplicas`; those of all items if a list is on the way. */
export function valueAt(object: unknown, path: string): unknown {
  return path.split('.').reduce(memberOf, object);
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => memberOf(each, name));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Reflect.get(value, name);
}

/** The text or number at a path; empty for everything else. */
export function textAt(object: unknown, path: string): string {
  const value = valueAt(object, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The items of the list at a path; none for everything else. */
export function listAt(object: unknown, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}

// Operations on a configuration before validation, of any shape.
import { isRecord } from '../../reading/unknown-value.ts';

/** Removes null sections: in YAML, a section whose options are all commented out is null. */
export function withoutEmptySections(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value) && isRecord(schema)) {
    return value.map((entry: unknown) => withoutEmptySections(entry, schema['items']));
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(schema['properties'], key) ? schema['properties'][key] : undefined;
    if (member === null && isRecord(known) && known['type'] === 'object') continue;
    // Not an assignment: a key named __proto__ must reach the validator.
    Object.defineProperty(kept, key, {
      value: withoutEmptySections(member, known),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return kept;
}

/** Sets an option, and creates missing sections. */
export function putOption(root: unknown, path: readonly string[], value: unknown): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    // The validator reports a section of the wrong type.
    if (!isRecord(target)) return;
    if (depth === path.length - 1) target[segment] = value;
    else target = target[segment] ??= {};
  }
}

/** Removes an option, or the whole list for an item. */
export function removeOption(root: unknown, path: readonly string[]): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    if (!isRecord(target)) return;
    if (depth === path.length - 1 || Array.isArray(target[segment])) delete target[segment];
    else target = target[segment];
  }
}

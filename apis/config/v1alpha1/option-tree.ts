// Functions that set and remove options in a configuration that is not validated yet.
import { isRecord } from '../../reading/unknown-value.ts';

/** Removes null sections, because a YAML section is null if all its options are commented out. */
export function withoutEmptySections(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value) && isRecord(schema)) {
    return value.map((entry: unknown) => withoutEmptySections(entry, schema['items']));
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(schema['properties'], key) ? schema['properties'][key] : undefined;
    if (member === null && isRecord(known) && known['type'] === 'object') continue;
    // Unlike an assignment, defineProperty passes a key named __proto__ to the validator.
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

/** Removes an option. For an option in a list item, removes the whole list. */
export function removeOption(root: unknown, path: readonly string[]): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    if (!isRecord(target)) return;
    if (depth === path.length - 1 || Array.isArray(target[segment])) delete target[segment];
    else target = target[segment];
  }
}

// A configuration before it is checked: of any shape, so that every fault of it can be told.
import { isRecord } from '../../reading/unknown-value.ts';

/** A section whose options are all commented out is null in YAML; it means the defaults. */
export function withoutEmptySections(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value) && isRecord(schema)) {
    return value.map((entry: unknown) => withoutEmptySections(entry, schema['items']));
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema['properties'])) return value;
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(schema['properties'], key) ? schema['properties'][key] : undefined;
    if (member === null && isRecord(known) && known['type'] === 'object') continue;
    // Not a plain assignment: a key named __proto__ has to reach the validator.
    Object.defineProperty(kept, key, {
      value: withoutEmptySections(member, known),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return kept;
}

/** Sets an option, where the sections above it are sections; those that are missing are made. */
export function putOption(root: unknown, path: readonly string[], value: unknown): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    // The file's own fault, that a section is not one, is reported by the validator.
    if (!isRecord(target)) return;
    if (depth === path.length - 1) target[segment] = value;
    else target = target[segment] ??= {};
  }
}

/** Takes out an option; a list as a whole, whatever in it is meant. */
export function removeOption(root: unknown, path: readonly string[]): void {
  let target = root;
  for (const [depth, segment] of path.entries()) {
    if (!isRecord(target)) return;
    if (depth === path.length - 1 || Array.isArray(target[segment])) delete target[segment];
    else target = target[segment];
  }
}

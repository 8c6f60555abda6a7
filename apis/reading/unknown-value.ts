// Type guards and accessors for untrusted values. An accessor never throws: a missing or invalid value becomes an
// empty value.

/** True for an object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** Returns the property `name` of an object if it is an object too, else an empty object. */
export function recordIn(value: unknown, name: string): Readonly<Record<string, unknown>> {
  return record(record(value)[name]);
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Returns a string, or undefined for other values. Unlike `text`, it distinguishes a missing string from an empty one.
 */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns a time in ms since the epoch, or undefined for a value that is not a time. */
export function optionalTime(value: unknown): number | undefined {
  const ms = Date.parse(text(value));
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the properties whose values are strings. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [key, member] of Object.entries(record(value))) {
    if (typeof member === 'string') found[key] = member;
  }
  return found;
}

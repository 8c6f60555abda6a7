// Readers of untrusted values: files, requests, objects of the cluster. They never throw, and return an empty value for missing
// ones and wrong types.

/** True for an object that is not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The member `name`, if both are objects. */
export function recordIn(value: unknown, name: string): Readonly<Record<string, unknown>> {
  return record(record(value)[name]);
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Distinguishes a missing text from an empty one. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The string members. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [key, member] of Object.entries(record(value))) {
    if (typeof member === 'string') found[key] = member;
  }
  return found;
}

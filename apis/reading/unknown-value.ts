// Narrow readers of what comes from outside: files, requests, objects of the cluster. Nothing throws; those that give a
// value give an empty one for whatever is missing or of another type.

/** An object with members of its own; a list is none. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

/** The member `name` of something parsed, where both are objects. */
export function recordIn(value: unknown, name: string): Readonly<Record<string, unknown>> {
  return record(record(value)[name]);
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** For what may be missing, and means something else then than an empty text. */
export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Members that are strings; the others are left out. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [key, member] of Object.entries(record(value))) {
    if (typeof member === 'string') found[key] = member;
  }
  return found;
}

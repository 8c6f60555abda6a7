// Narrow readers for objects of the cluster: whatever is missing or of another type reads as empty, nothing throws.

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Members that are strings; the others are left out. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [key, member] of Object.entries(record(value))) {
    if (typeof member === 'string') found[key] = member;
  }
  return found;
}

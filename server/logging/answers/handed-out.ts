// What this server hands out for callers to bring back as it is. It comes from outside then: whatever is in it is unknown.

export function handedOut(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Undefined for what was never handed out. */
export function broughtBack(text: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}

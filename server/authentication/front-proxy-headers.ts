import type { IncomingMessage } from 'node:http';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';

// `headersDistinct` and nothing else: in `headers` several headers of one name are joined by commas, so the group
// `a,system:masters` could not be told from the groups `a` and `system:masters`.

/** Whether one of these headers has a value that is not empty. */
export function hasValue({ headersDistinct }: IncomingMessage, names: readonly string[]): boolean {
  return names.some((name) => headersDistinct[name]?.some((value) => value !== ''));
}

/** The first value that is not empty, of the first header that has one; else empty. */
export function firstValue({ headersDistinct }: IncomingMessage, names: readonly string[]): string {
  for (const name of names) {
    for (const value of headersDistinct[name] ?? []) {
      if (value !== '') return utf8(value);
    }
  }
  return '';
}

/** All values of all these headers, empty ones left out. */
export function values({ headersDistinct }: IncomingMessage, names: readonly string[]): string[] {
  const found: string[] = [];
  for (const name of names) {
    for (const value of headersDistinct[name] ?? []) {
      if (value !== '') found.push(utf8(value));
    }
  }
  return found;
}

/** The key is what follows the prefix, percent-encoded where it could not be part of a header name. */
export function extraOf(
  { headersDistinct }: IncomingMessage,
  prefixes: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  const extra = new Map<string, string[]>();
  for (const prefix of prefixes) {
    for (const [header, found] of Object.entries(headersDistinct)) {
      if (!header.startsWith(prefix) || !found) continue;
      const key = unescape(header.slice(prefix.length));
      extra.set(key, [...(extra.get(key) ?? []), ...found.map(utf8)]);
    }
  }
  // Unlike an assignment this makes a plain property even of the key `__proto__`.
  return Object.fromEntries(extra);
}

function unescape(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

const NON_ASCII = /[\u0080-\u00ff]/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Node reads headers as latin1; the front proxy sends UTF-8. */
function utf8(value: string): string {
  if (!NON_ASCII.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, 'latin1'));
  } catch (cause) {
    throw newUnauthorized(new Error('a header of the front proxy is not UTF-8', { cause }));
  }
}

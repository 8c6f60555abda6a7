// Decodes the headers with the attributes of a user: those of the front proxy, and those of an impersonation.
import type { IncomingMessage } from 'node:http';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';

/**
 * Returns the extra fields of a user. Their key is the header name after one of the prefixes, percent-decoded. Throws Unauthorized
 * for a value that is not UTF-8.
 */
export function extraFields(
  { headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>,
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
  // Unlike an assignment, fromEntries also creates a plain property for the key `__proto__`.
  return Object.fromEntries(extra);
}

/** As in Go, a key with a malformed escape is used as it is. Throws Unauthorized for a key that is not UTF-8. */
function unescape(key: string): string {
  if (/%(?![0-9a-f]{2})/i.test(key)) return key;
  return utf8(key.replace(/%(..)/g, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))));
}

const NON_ASCII = /[\u0080-\u00ff]/;
/** It keeps a byte order mark, without which two names could be equal. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a header value as UTF-8. Node has decoded it as Latin-1. Throws Unauthorized for invalid UTF-8, because replacement
 * characters could make two names equal.
 */
export function utf8(value: string): string {
  if (!NON_ASCII.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, 'latin1'));
  } catch (cause) {
    throw newUnauthorized(new Error('an attribute of the user is not UTF-8', { cause }));
  }
}

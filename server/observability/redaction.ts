/** Names of members with secrets, in all spellings in use. */
const SECRETS = new Set([
  'authorization',
  'Authorization',
  'cookie',
  'Cookie',
  'set-cookie',
  'Set-Cookie',
  'password',
  'token',
  'access_token',
  'accessToken',
  'refresh_token',
  'refreshToken',
  'id_token',
  'idToken',
  'client_secret',
  'clientSecret',
  'secret',
  'privateKey',
]);

const DEPTH = 4;

/**
 * Replaces secrets, nested ones included. Copies only if there is something to replace: it runs for every line, and pino's
 * redaction costs ten times as much as writing the line.
 */
export function redacted(members: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in members) {
    const value = members[name];
    let safe = value;
    if (SECRETS.has(name)) safe = '[redacted]';
    else if (depth < DEPTH && isPlain(value)) safe = redacted(value, depth + 1);
    if (safe === value) continue;
    copy ??= { ...members };
    copy[name] = safe;
  }
  return copy ?? members;
}

/** Not class instances such as errors, which have their own serializers. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

// Redacts secrets in log lines.
/** Names of properties that contain secrets. */
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
 * Returns the fields of a log line with secrets replaced, also in nested objects. For speed, it copies only objects that contain
 * secrets. pino's own redaction takes ten times as long as writing the line.
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

/** Returns true for plain objects and arrays. Class instances, such as errors, have serializers. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

/** Members that hold secrets, in the spellings in which they come. */
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
 * The same members without secrets, nested ones included. Runs for every line, so it copies only where it has something
 * to remove; the logger's own redaction costs ten times as much as writing the line.
 */
export function redacted(members: Record<string, unknown>, depth = 0): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in members) {
    const value = members[name];
    let harmless = value;
    if (SECRETS.has(name)) harmless = '[redacted]';
    else if (depth < DEPTH && isPlain(value)) harmless = redacted(value, depth + 1);
    if (harmless === value) continue;
    copy ??= { ...members };
    copy[name] = harmless;
  }
  return copy ?? members;
}

/** Not errors or other instances: those have their own serializers. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Array.isArray(value);
}

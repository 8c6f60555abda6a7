// Creates key rings in memory, without a Secret, and signs tokens for tests.
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import type { KeyRing, SigningKey } from '../../../server/oauth/keys/key-ring.ts';
import { ImportedKeys } from '../../../server/oauth/keys/key-ring.ts';
import { firstSet, newKey } from '../../../server/oauth/keys/key-set.ts';

/** Creates a key ring in memory, without a Secret. */
export async function memoryKeyRing(): Promise<KeyRing> {
  return ImportedKeys.from(firstSet(await newKey(), 0));
}

/** A token with any claims, signed by `key`. */
export function signedBy(key: SigningKey, header: JWTHeaderParameters, claims: JWTPayload): string {
  const [first, second] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const input = `${first}.${second}`;
  return `${input}.${key.sign(input).toString('base64url')}`;
}

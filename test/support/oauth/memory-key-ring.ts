// Creates key rings in memory, without a Secret, and signs tokens for tests.
import { randomBytes } from 'node:crypto';
import type { JWTHeaderParameters, JWTPayload } from 'jose';
import type { KeyRing, SigningKey } from '../../../server/oauth/keys/key-ring.ts';
import { ImportedKeys } from '../../../server/oauth/keys/key-ring.ts';
import { firstSet, type KeyMaterial, newPair } from '../../../server/oauth/keys/key-set.ts';

/** Creates a key ring in memory, without a Secret. */
export async function memoryKeyRing(): Promise<KeyRing> {
  return ImportedKeys.from(firstSet(await newMaterial(), 0));
}

/** All key sets of a process have one RSA pair, because its creation takes up to a second. */
let rsa: ReturnType<typeof newPair> | undefined;

/** Key material with a new ES256 pair and MAC key. */
export async function newMaterial(): Promise<KeyMaterial> {
  rsa ??= newPair('RS256');
  const { kid, ...jwk } = await newPair('ES256');
  return { kid, jwk, rsaJwk: await rsa, macKey: randomBytes(32).toString('base64url') };
}

/** A token with any claims, signed by `key`. */
export function signedBy(key: SigningKey, header: JWTHeaderParameters, claims: JWTPayload): string {
  const [first, second] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const input = `${first}.${second}`;
  return `${input}.${key.sign(input).toString('base64url')}`;
}

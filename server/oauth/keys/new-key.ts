import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

export interface KeyMaterial {
  readonly kid: string;
  readonly jwk: JWK;
  readonly macKey: string;
}

/** A new pair for ES256, which kube-apiserver accepts (it refuses EdDSA), and a MAC key beside it. */
export async function newKey(): Promise<KeyMaterial> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const { kty, crv, x, y, d } = await exportJWK(privateKey);
  if (kty === undefined || crv === undefined || x === undefined || y === undefined || d === undefined) {
    throw new Error('the new key has no coordinates');
  }
  const jwk: JWK = { kty, crv, x, y, d };
  return {
    kid: await calculateJwkThumbprint(jwk, 'sha256'),
    jwk,
    macKey: randomBytes(32).toString('base64url'),
  };
}

import type { Handler } from '../../request/request-context.ts';
import { writePublicJSON } from '../http/public-document.ts';
import type { KeyRing } from '../keys/key-ring.ts';

export interface KeysEndpointOptions {
  readonly keys: Pick<KeyRing, 'jwks'>;
  /** How long a key is published before it signs, in ms: whoever caches the document that long never misses one. */
  readonly publishAhead: number;
}

/**
 * kube-apiserver does not ask again for a key that it does not know while this has more than 30 s to go: after keys were
 * lost or thrown away, it is for how long it refuses new tokens.
 */
const LONGEST_MAX_AGE_SECONDS = 60;

/** The public keys as a JWK Set (RFC 7517). 503 until there are any. */
export function keysHandler({ keys, publishAhead }: KeysEndpointOptions): Handler {
  const maxAge = Math.min(LONGEST_MAX_AGE_SECONDS, Math.floor(publishAhead / 2000));
  return (context) => writePublicJSON(context, keys.jwks(), maxAge);
}

// Tests of ImportedKeys, the keys of one key set for signatures and MACs.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { ImportedKeys } from '../../../../../server/oauth/keys/key-ring.ts';
import { rotated } from '../../../../../server/oauth/keys/key-rotator.ts';
import { firstSet, type KeySet, newKey } from '../../../../../server/oauth/keys/key-set.ts';

const POLICY = { rotationInterval: 1000, publishAhead: 100, tokenLifetime: 500, macLifetime: 5000 };

async function rotatedAt(set: KeySet, ...times: readonly number[]): Promise<KeySet> {
  let keys = set;
  for (const time of times) keys = await rotated(keys, time, POLICY, newKey);
  return keys;
}

describe('ImportedKeys', () => {
  it('publishes public members only, of the next, active and retired keys', async () => {
    const changed = await rotatedAt(firstSet(await newKey(), 0), 900, 1000);
    const three = await rotated(changed, 1050, POLICY, newKey, 'graceful');
    const keys = await ImportedKeys.from(three);
    expect(three.keys.map(({ state }) => state)).to.deep.equal(['retired', 'active', 'next']);
    expect(keys.jwks().keys).to.have.length(3);
    for (const jwk of keys.jwks().keys) {
      expect(Object.keys(jwk).toSorted()).to.deep.equal(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(keys.verification(jwk.kid ?? '')?.type).to.equal('public');
    }
    expect(keys.signing().kid).to.equal(three.keys[1]?.kid);
  });

  it('verifies only hints with a key after the expiry of its tokens', async () => {
    const first = firstSet(await newKey(), 0);
    const keys = await ImportedKeys.from(await rotatedAt(first, 900, 1000, 1500));
    const kid = first.keys[0]?.kid ?? '';
    expect(keys.jwks().keys.map((jwk) => jwk.kid)).to.deep.equal([keys.signing().kid]);
    expect(keys.verification(kid)).to.equal(undefined);
    expect(keys.hintVerification(kid)?.type).to.equal('public');
    expect(keys.hintVerification(keys.signing().kid)).to.equal(keys.verification(keys.signing().kid));
  });

  it('identifies each key by its exact thumbprint, and does not export private keys', async () => {
    const keys = await ImportedKeys.from(firstSet(await newKey(), 0));
    const [jwk] = keys.jwks().keys;
    const { kid } = keys.signing();
    expect([jwk?.kid, jwk && (await calculateJwkThumbprint(jwk, 'sha256'))]).to.deep.equal([kid, kid]);
    for (const other of ['', '__proto__', kid.toUpperCase()]) {
      expect(keys.verification(other), other).to.equal(undefined);
    }
    expect(Object.keys(keys.signing())).to.deep.equal(['kid', 'sign']);
  });

  it('rejects a private key that does not match its public key, without repeating it', async () => {
    const [good, other] = [firstSet(await newKey(), 0), firstSet(await newKey(), 0)];
    for (const d of [other.keys[0]?.jwk?.d, good.keys[0]?.jwk?.d?.slice(0, 20), 'A'.repeat(43), '!!!!']) {
      const keys = good.keys.map((key) => ({ ...key, jwk: { ...key.jwk, d } as JWK }));
      const refusal: unknown = await ImportedKeys.from({ keys }).catch((error: unknown) => error);
      expect(refusal, d).to.be.instanceOf(Error);
      expect(inspect(refusal)).not.to.include(d ?? '');
    }
  });

  it('verifies a MAC under every current key, for its purpose and message only', async () => {
    const first = firstSet(await newKey(), 0);
    const mac = (await ImportedKeys.from(first)).mac('session', 'text');
    const keys = await ImportedKeys.from(await rotatedAt(first, 900, 1000));
    expect(keys.checkMac('session', 'text', mac)).to.equal(true);
    expect(keys.mac('session', 'text')).not.to.equal(mac);
    expect(keys.checkMac('session', 'texts', mac)).to.equal(false);
    expect(keys.checkMac('code', 'text', mac)).to.equal(false);
    expect(keys.checkMac('session', 'text', '')).to.equal(false);
    const other = await ImportedKeys.from(firstSet(await newKey(), 0));
    expect(other.checkMac('session', 'text', mac)).to.equal(false);
  });
});

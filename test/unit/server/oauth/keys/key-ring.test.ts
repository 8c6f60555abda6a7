// Tests of ImportedKeys, the keys of one key set for signatures and MACs.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { calculateJwkThumbprint, compactVerify, type JWK } from 'jose';
import { ImportedKeys } from '../../../../../server/oauth/keys/key-ring.ts';
import { rotated } from '../../../../../server/oauth/keys/key-rotator.ts';
import { firstSet, type KeySet, newKey } from '../../../../../server/oauth/keys/key-set.ts';
import { newMaterial } from '../../../../support/oauth/memory-key-ring.ts';

const POLICY = { rotationInterval: 1000, publishAhead: 100, tokenLifetime: 500, macLifetime: 5000 };

async function rotatedAt(set: KeySet, ...times: readonly number[]): Promise<KeySet> {
  let keys = set;
  for (const time of times) keys = await rotated(keys, time, POLICY, newMaterial);
  return keys;
}

describe('ImportedKeys', () => {
  it('signs with the pair of the algorithm, and with ES256 by default', async () => {
    const keys = await ImportedKeys.from(firstSet(await newKey(), 0));
    for (const algorithm of [undefined, 'ES256', 'RS256'] as const) {
      const key = keys.signing(algorithm);
      const alg = algorithm ?? 'ES256';
      const input = `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.e30`;
      const token = `${input}.${key.sign(input).toString('base64url')}`;
      const verification = keys.verification(key.kid, alg);
      if (!verification) throw new Error('not published');
      await compactVerify(token, verification, { algorithms: [alg] });
    }
  });

  it('has no RSA key while the key set is of an earlier version', async () => {
    const set = { keys: firstSet(await newMaterial(), 0).keys.map(({ rsaJwk: _added, ...key }) => key) };
    const keys = await ImportedKeys.from(set);
    expect(() => keys.signing('RS256')).to.throw('there is no key for RS256 yet');
    expect(keys.signing().algorithm).to.equal('ES256');
    const extended = await rotated(set, 1, POLICY, newMaterial);
    expect(extended.keys.map(({ kid }) => kid)).to.deep.equal(set.keys.map(({ kid }) => kid));
    expect((await ImportedKeys.from(extended)).signing('RS256').algorithm).to.equal('RS256');
  });

  it('publishes public members only, of the next, active and retired keys', async () => {
    const changed = await rotatedAt(firstSet(await newMaterial(), 0), 900, 1000);
    const three = await rotated(changed, 1050, POLICY, newMaterial, 'graceful');
    const keys = await ImportedKeys.from(three);
    expect(three.keys.map(({ state }) => state)).to.deep.equal(['retired', 'active', 'next']);
    const published = keys.jwks().keys;
    expect(published.map(({ alg }) => alg)).to.deep.equal(three.keys.flatMap(() => ['ES256', 'RS256']));
    for (const jwk of published) {
      const members = jwk.alg === 'ES256' ? ['crv', 'kty', 'use', 'x', 'y'] : ['e', 'kty', 'n', 'use'];
      expect(Object.keys(jwk).toSorted()).to.deep.equal(['alg', 'kid', ...members].toSorted());
      const { kid = '', alg = '' } = jwk;
      expect(keys.verification(kid, alg)?.type).to.equal('public');
      expect(keys.verification(kid, alg === 'ES256' ? 'RS256' : 'ES256')).to.equal(undefined);
    }
    expect(keys.signing().kid).to.equal(three.keys[1]?.kid);
  });

  it('verifies only hints with a key after the expiry of its tokens', async () => {
    const first = firstSet(await newMaterial(), 0);
    const keys = await ImportedKeys.from(await rotatedAt(first, 900, 1000, 1500));
    const kid = first.keys[0]?.kid ?? '';
    expect(keys.jwks().keys.map((jwk) => jwk.kid))
      .to.include.members([keys.signing().kid])
      .and.not.include(kid);
    expect(keys.verification(kid, 'ES256')).to.equal(undefined);
    expect(keys.hintVerification(kid, 'ES256')?.type).to.equal('public');
    const active = keys.signing().kid;
    expect(keys.hintVerification(active, 'ES256')).to.equal(keys.verification(active, 'ES256'));
  });

  it('identifies each key by its exact thumbprint, and does not export private keys', async () => {
    const keys = await ImportedKeys.from(firstSet(await newMaterial(), 0));
    const { kid } = keys.signing();
    const thumbprints = await Promise.all(
      keys.jwks().keys.map((jwk) => calculateJwkThumbprint(jwk, 'sha256')),
    );
    expect(thumbprints).to.deep.equal([kid, keys.signing('RS256').kid]);
    for (const other of ['', '__proto__', kid.toUpperCase()]) {
      expect(keys.verification(other, 'ES256'), other).to.equal(undefined);
    }
    expect(Object.keys(keys.signing())).to.deep.equal(['kid', 'algorithm', 'sign']);
  });

  it('rejects a private key that does not match its public key, without repeating it', async () => {
    const [good, other] = [firstSet(await newMaterial(), 0), firstSet(await newMaterial(), 0)];
    for (const d of [other.keys[0]?.jwk?.d, good.keys[0]?.jwk?.d?.slice(0, 20), 'A'.repeat(43), '!!!!']) {
      const keys = good.keys.map((key) => ({ ...key, jwk: { ...key.jwk, d } as JWK }));
      const refusal: unknown = await ImportedKeys.from({ keys }).catch((error: unknown) => error);
      expect(refusal, d).to.be.instanceOf(Error);
      expect(inspect(refusal)).not.to.include(d ?? '');
    }
  });

  it('verifies a MAC under every current key, for its purpose and message only', async () => {
    const first = firstSet(await newMaterial(), 0);
    const mac = (await ImportedKeys.from(first)).mac('session', 'text');
    const keys = await ImportedKeys.from(await rotatedAt(first, 900, 1000));
    expect(keys.checkMac('session', 'text', mac)).to.equal(true);
    expect(keys.mac('session', 'text')).not.to.equal(mac);
    expect(keys.checkMac('session', 'texts', mac)).to.equal(false);
    expect(keys.checkMac('code', 'text', mac)).to.equal(false);
    expect(keys.checkMac('session', 'text', '')).to.equal(false);
    const other = await ImportedKeys.from(firstSet(await newMaterial(), 0));
    expect(other.checkMac('session', 'text', mac)).to.equal(false);
  });
});

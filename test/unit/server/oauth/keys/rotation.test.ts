import { expect } from 'chai';
import type { JWK } from 'jose';
import { type KeySet, readKeySet, writeKeySet } from '../../../../../server/oauth/keys/key-set.ts';
import { type KeyMaterial, newKey } from '../../../../../server/oauth/keys/new-key.ts';
import {
  firstSet,
  nextChange,
  type RotationPolicy,
  rotated,
} from '../../../../../server/oauth/keys/rotation.ts';

const HOUR = 3_600_000;
const POLICY: RotationPolicy = {
  rotationInterval: 30 * 24 * HOUR,
  publishAhead: HOUR / 6,
  tokenLifetime: 2 * HOUR,
  macLifetime: 30 * 24 * HOUR,
};

function named(kid: string): () => Promise<KeyMaterial> {
  return () =>
    Promise.resolve({ kid, jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }, macKey: kid });
}

const FIRST = firstSet(
  { kid: 'a', jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }, macKey: 'a' },
  0,
);

function states(set: KeySet): string {
  return set.keys.map(({ kid, state }) => `${kid} ${state}`).join(', ');
}

describe('the rotation of keys', () => {
  const { rotationInterval, publishAhead, tokenLifetime, macLifetime } = POLICY;

  it('changes nothing before its time', async () => {
    const before = rotationInterval - publishAhead - 1;
    expect(await rotated(FIRST, before, POLICY, named('b'))).to.equal(FIRST);
    expect(nextChange(FIRST, POLICY)).to.equal(before + 1);
  });

  it('publishes the next key before it signs', async () => {
    const published = await rotated(FIRST, rotationInterval - publishAhead, POLICY, named('b'));
    expect(states(published)).to.equal('a active, b next');
    expect(nextChange(published, POLICY)).to.equal(rotationInterval);
    expect(await rotated(published, rotationInterval - 1, POLICY, named('c'))).to.equal(published);
    const changed = await rotated(published, rotationInterval, POLICY, named('c'));
    expect(states(changed)).to.equal('a retired, b active');
  });

  it('publishes a key for its full time even when the elected replica was away when it was due', async () => {
    const late = 2 * rotationInterval;
    const published = await rotated(FIRST, late, POLICY, named('b'));
    expect(states(published)).to.equal('a active, b next');
    expect(nextChange(published, POLICY)).to.equal(late + publishAhead);
  });

  it('forgets the private part of a key that signs no more, its pair with the last token, its MAC key last', async () => {
    const published = await rotated(FIRST, rotationInterval - publishAhead, POLICY, named('b'));
    const changed = await rotated(published, rotationInterval, POLICY, named('c'));
    expect(changed.keys[0]?.jwk).to.deep.equal({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' });
    const expired = await rotated(changed, rotationInterval + tokenLifetime, POLICY, named('c'));
    expect(expired.keys[0]).to.include({ kid: 'a', macKey: 'a' }).and.not.to.have.property('jwk');
    const later = rotationInterval + macLifetime;
    const spent = { ...POLICY, rotationInterval: 10 * rotationInterval };
    expect(states(await rotated(expired, later - 1, spent, named('c')))).to.equal('a retired, b active');
    expect(states(await rotated(expired, later, spent, named('c')))).to.equal('b active');
  });

  it('publishes a new key at once when asked, and signs with it when everybody knows it', async () => {
    const asked = await rotated(FIRST, 1000, POLICY, named('b'), 'graceful');
    expect(states(asked)).to.equal('a active, b next');
    expect(nextChange(asked, POLICY)).to.equal(1000 + publishAhead);
    expect(states(await rotated(asked, 1000 + publishAhead, POLICY, named('c')))).to.equal(
      'a retired, b active',
    );
  });

  it('leaves nothing of keys that are in wrong hands', async () => {
    expect(states(await rotated(FIRST, 1000, POLICY, named('b'), 'immediate'))).to.equal('b active');
  });
});

describe('a set of keys', () => {
  it('reads what it wrote', async () => {
    const set = firstSet(await newKey(), Date.parse('2026-11-21T12:00:00Z'));
    expect(readKeySet(writeKeySet(set))).to.deep.equal(set);
  });

  for (const [what, text] of [
    ['no JSON', '{'],
    ['no keys', '{}'],
    ['a key without MAC key', '{"keys":[{"kid":"a","state":"active"}]}'],
  ] as const) {
    it(`is not read from ${what}`, () => {
      expect(() => readKeySet(text)).to.throw(Error);
    });
  }

  for (const [what, change] of [
    ['of another type', { kty: 'RSA' }],
    ['of another type, on the same curve', { kty: 'OKP' }],
    ['of no type', { kty: undefined }],
    ['of another curve', { crv: 'P-384' }],
    ['without its private part', { d: undefined }],
    ['without a half of its public part', { y: undefined }],
  ] as const) {
    it(`is not read with an active key ${what}`, async () => {
      const [key] = firstSet(await newKey(), 0).keys;
      if (!key?.jwk) throw new Error('there is no key');
      const changed = { ...key, jwk: { ...key.jwk, ...change } as JWK };
      expect(() => readKeySet(writeKeySet({ keys: [changed] }))).to.throw(
        `key ${key.kid} has no private key of P-256`,
      );
    });
  }

  it('never repeats what it could not read', () => {
    expect(() => readKeySet('{"d":"secret-part"'))
      .to.throw(Error)
      .with.property('message')
      .not.include('secret-part');
  });
});

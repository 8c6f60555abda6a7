// Tests of the rotation of the signing keys.
import { inspect } from 'node:util';
import { expect } from 'chai';
import { fillSecret } from '../../../../../server/cluster/secrets/installed-secret.ts';
import {
  KeyRotator,
  nextChange,
  type RotationPolicy,
  rotated,
} from '../../../../../server/oauth/keys/key-rotator.ts';
import {
  KeySecret,
  ROTATE_ANNOTATION,
  type StoredKeys,
} from '../../../../../server/oauth/keys/key-secret.ts';
import {
  firstSet,
  type KeyMaterial,
  type KeySet,
  readKeySet,
  writeKeySet,
} from '../../../../../server/oauth/keys/key-set.ts';
import { MemoryObjects } from '../../../../support/cluster/memory-objects.ts';
import { newMaterial } from '../../../../support/oauth/memory-key-ring.ts';
import { rejection } from '../../../../support/rejection.ts';

const HOUR = 3_600_000;
const MONTHLY: RotationPolicy = {
  rotationInterval: 30 * 24 * HOUR,
  publishAhead: HOUR / 6,
  tokenLifetime: 2 * HOUR,
  macLifetime: 30 * 24 * HOUR,
};

function materialOf(kid: string): KeyMaterial {
  const rsaJwk = { kid: `rsa-${kid}`, kty: 'RSA', n: 'n', e: 'e', d: 'd' };
  return { kid, jwk: { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', d: 'd' }, rsaJwk, macKey: kid };
}

const named = (kid: string) => () => Promise.resolve(materialOf(kid));
const FIRST = firstSet(materialOf('a'), 0);

function states(set: KeySet): string {
  return set.keys.map(({ kid, state }) => `${kid} ${state}`).join(', ');
}

describe('the rotation plan', () => {
  const { rotationInterval, publishAhead, tokenLifetime, macLifetime } = MONTHLY;

  it('publishes the next key before it signs', async () => {
    const due = rotationInterval - publishAhead;
    expect(nextChange(FIRST, MONTHLY)).to.equal(due);
    expect(await rotated(FIRST, due - 1, MONTHLY, named('b'))).to.equal(FIRST);
    const published = await rotated(FIRST, due, MONTHLY, named('b'));
    expect(states(published)).to.equal('a active, b next');
    expect(nextChange(published, MONTHLY)).to.equal(rotationInterval);
    expect(await rotated(published, rotationInterval - 1, MONTHLY, named('c'))).to.equal(published);
    const changed = await rotated(published, rotationInterval, MONTHLY, named('c'));
    expect(states(changed)).to.equal('a retired, b active');
    const third = await rotated(changed, rotationInterval + 1, MONTHLY, named('c'), 'graceful');
    const fourth = await rotated(third, rotationInterval + 1 + publishAhead, MONTHLY, named('d'));
    expect(states(fourth)).to.equal('a retired, b retired, c active');
    expect(fourth.keys[0]).to.equal(changed.keys[0]);
  });

  it('publishes a key for all of publishAhead even when the rotation is late', async () => {
    const late = 2 * rotationInterval;
    const published = await rotated(FIRST, late, MONTHLY, named('b'));
    expect(states(published)).to.equal('a active, b next');
    expect(nextChange(published, MONTHLY)).to.equal(late + publishAhead);
  });

  it('deletes first the private part, then the public part, then the MAC key of a retired key', async () => {
    const published = await rotated(FIRST, rotationInterval - publishAhead, MONTHLY, named('b'));
    const changed = await rotated(published, rotationInterval, MONTHLY, named('c'));
    expect(changed.keys[0]?.jwk).to.deep.equal({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' });
    expect(nextChange(changed, MONTHLY)).to.equal(rotationInterval + tokenLifetime);
    const expired = await rotated(changed, rotationInterval + tokenLifetime, MONTHLY, named('c'));
    expect(expired.keys[0]).to.include({ kid: 'a', macKey: 'a' }).and.not.to.have.property('jwk');
    // For the ID tokens of living sessions, which are used as hints.
    expect(expired.keys[0]?.pastJwk).to.deep.equal({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' });
    const publicRSA = { kid: 'rsa-a', kty: 'RSA', n: 'n', e: 'e' };
    expect([changed.keys[0]?.rsaJwk, expired.keys[0]?.pastRSAJwk]).to.deep.equal([publicRSA, publicRSA]);
    expect(expired.keys[0]).not.to.have.property('rsaJwk');
    const later = rotationInterval + macLifetime;
    const spent = { ...MONTHLY, rotationInterval: 10 * rotationInterval };
    expect(states(await rotated(expired, later - 1, spent, named('c')))).to.equal('a retired, b active');
    expect(states(await rotated(expired, later, spent, named('c')))).to.equal('b active');
    expect(nextChange(expired, spent)).to.equal(later);
  });

  it('publishes one new key on request and signs with it after publishAhead', async () => {
    const withNext = await rotated(FIRST, 1000, MONTHLY, named('b'), 'graceful');
    expect(states(withNext)).to.equal('a active, b next');
    expect(nextChange(withNext, MONTHLY)).to.equal(1000 + publishAhead);
    expect(await rotated(withNext, 2000, MONTHLY, named('c'), 'graceful')).to.equal(withNext);
    const changed = await rotated(withNext, 1000 + publishAhead, MONTHLY, named('c'));
    expect(states(changed)).to.equal('a retired, b active');
  });

  it('removes all old keys at an immediate rotation', async () => {
    expect(states(await rotated(FIRST, 1000, MONTHLY, named('b'), 'immediate'))).to.equal('b active');
  });
});

describe('the rotation of keys in a Secret', () => {
  const place = { namespace: 'ns', name: 'keys' };
  const { signal } = new AbortController();
  let client: MemoryObjects;
  let secret: KeySecret;

  beforeEach(() => {
    client = new MemoryObjects();
    secret = new KeySecret(client, place);
  });

  /** Rotates new keys, which are in a Secret beside the serving CA. Returns the version before the request. */
  async function rotate(request: string): Promise<StoredKeys> {
    const keys = writeKeySet(firstSet(await newMaterial(), 0));
    const data = { 'keys.json': Buffer.from(keys).toString('base64'), 'serving-ca.json': 'CA' };
    await fillSecret(client, place, undefined, { data }, signal);
    const before = await secret.read(signal);
    const [path = '', object] = [...client.objects][0] ?? [];
    const annotations = { [ROTATE_ANNOTATION]: request };
    client.objects.set(path, { ...object, metadata: { ...object?.metadata, annotations } });
    const log = { info: () => undefined, warn: () => undefined };
    const subscribe = () => () => undefined;
    await new KeyRotator({ client, ...place, policy: MONTHLY, subscribe, log, now: () => 10 }).rotate(signal);
    return before;
  }

  it('does not overwrite a concurrent change, and keeps the serving CA', async () => {
    const stale = await rotate('graceful');
    const refused = await rejection(secret.replace(stale, stale.set, signal));
    expect(refused).to.have.property('reason', 'Conflict');
    const stored = await secret.read(signal);
    expect(stored.set.keys).to.have.length(2);
    expect(stored.data).to.include({ 'serving-ca.json': 'CA' });
  });

  it('removes the serving CA with the keys at an immediate rotation', async () => {
    const before = await rotate('immediate');
    const { data, set } = await secret.read(signal);
    expect(Object.keys(data)).to.deep.equal(['keys.json']);
    expect(set.keys[0]?.kid).not.to.equal(before.set.keys[0]?.kid);
  });
});

describe('a key set', () => {
  it('is read as it was written, with next and retired keys and their times', async () => {
    const withNext = await rotated(firstSet(await newMaterial(), 0), 0, MONTHLY, newMaterial, 'graceful');
    const changed = await rotated(withNext, MONTHLY.publishAhead, MONTHLY, newMaterial);
    const expired = await rotated(
      changed,
      MONTHLY.publishAhead + MONTHLY.tokenLifetime,
      MONTHLY,
      newMaterial,
    );
    expect(expired.keys[0]).not.to.have.property('jwk');
    for (const set of [withNext, changed, expired]) expect(readKeySet(writeKeySet(set))).to.deep.equal(set);
  });

  /** Reads a set of one valid key with these changes. */
  async function read(change: object): Promise<KeySet> {
    const { keys } = JSON.parse(writeKeySet(firstSet(await newMaterial(), 0))) as { keys: { jwk: object }[] };
    const { jwk, ...member } = { jwk: {}, ...change };
    return readKeySet(
      JSON.stringify({ keys: [{ ...keys[0], ...member, jwk: { ...keys[0]?.jwk, ...jwk } }] }),
    );
  }

  for (const [change, message] of [
    [{ kid: 'a' }, 'invalid kid or state'],
    [{ kid: undefined }, 'invalid kid or state'],
    [{ state: 'old' }, 'invalid kid or state'],
    [{ state: 'retired' }, 'the key set must have'],
    [{ macKey: 'a' }, 'MAC key'],
    [{ macKey: undefined }, 'MAC key'],
    [{ activeAt: 'soon' }, 'invalid time'],
    [{ createdAt: 1 }, 'invalid time'],
    [{ jwk: { kty: 'RSA' } }, 'has no private P-256 key'],
    [{ jwk: { kty: 'OKP' } }, 'has no private P-256 key'],
    [{ jwk: { kty: undefined } }, 'has no private P-256 key'],
    [{ jwk: { crv: 'P-384' } }, 'has no private P-256 key'],
    [{ jwk: { d: undefined } }, 'has no private P-256 key'],
    [{ jwk: { y: undefined } }, 'has no private P-256 key'],
  ] as const) {
    it(`is rejected with ${inspect(change)}`, async () => {
      expect(await rejection(read(change)))
        .to.have.property('message')
        .that.includes(message);
    });
  }

  it('is rejected with two active keys, without keys, and without repeating it', async () => {
    const [one, two] = [firstSet(await newMaterial(), 0), firstSet(await newMaterial(), 0)];
    const both = writeKeySet({ keys: [...one.keys, ...two.keys] });
    expect(() => readKeySet(both)).to.throw('exactly one active key');
    expect(() => readKeySet('{"keys":["x"]}')).to.throw('a key is not an object');
    expect(() => readKeySet('{}')).to.throw(Error);
    expect(() => readKeySet('{"d":"secret-part"')).to.throw(/^(?!.*secret-part)/);
  });
});

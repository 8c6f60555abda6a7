import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { ImportedKeys } from '../../../../../server/oauth/keys/imported-keys.ts';
import { firstSet, newKey } from '../../../../../server/oauth/keys/key-set.ts';
import { isSessionID, newSessionID, SessionIDs } from '../../../../../server/oauth/sessions/session-ids.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';

describe('a session id', () => {
  it('is a DNS label with a hundred random bits', () => {
    const ids = Array.from({ length: 200 }, () => newSessionID(randomBytes));
    expect(ids.every(isSessionID)).to.equal(true);
    expect(new Set(ids).size).to.equal(200);
    // Every letter occurs, so the mapping is complete.
    expect(new Set(ids.map((id) => id.slice(2)).join('')).size).to.equal(32);
  });
});

describe('a malformed session id', () => {
  const id = newSessionID(randomBytes);
  for (const text of [
    '',
    's-',
    id.slice(0, -1),
    `${id}a`,
    id.toUpperCase(),
    `${id}\n`,
    '../users',
    `${id}/x`,
  ]) {
    it(`is rejected without a lookup: ${JSON.stringify(text.replace(id, 'ID'))}`, () => {
      expect(isSessionID(text)).to.equal(false);
    });
  }
});

describe('SessionIDs', () => {
  it('are recognized by every replica, well-formed and unique', async () => {
    const keys = await memoryKeyRing();
    const ids = Array.from({ length: 200 }, () => new SessionIDs(keys).next(randomBytes));
    expect(ids.every(isSessionID)).to.equal(true);
    expect(new Set(ids).size).to.equal(200);
    expect(ids.every((id) => new SessionIDs(keys).isGenuine(id))).to.equal(true);
  });

  it('rejects invented ids and ids of other keys', async () => {
    const ours = new SessionIDs(await memoryKeyRing());
    const others = new SessionIDs(await memoryKeyRing());
    const id = ours.next(randomBytes);
    const changed = `${id.slice(0, 10)}${id[10] === 'a' ? 'b' : 'a'}${id.slice(11)}`;
    const remarked = `${id.slice(0, -1)}${id.endsWith('a') ? 'b' : 'a'}`;
    for (const foreign of [newSessionID(randomBytes), others.next(randomBytes), changed, remarked, '', 'x']) {
      expect(ours.isGenuine(foreign), foreign).to.equal(false);
    }
  });

  it('recognizes its ids after a rotation', async () => {
    const first = firstSet(await newKey(), 0);
    const id = new SessionIDs(await ImportedKeys.from(first)).next(randomBytes);
    const [old] = first.keys;
    const [active] = firstSet(await newKey(), 0).keys;
    if (!old || !active) throw new Error('no key');
    const rotated = new SessionIDs(await ImportedKeys.from({ keys: [{ ...old, state: 'retired' }, active] }));
    expect(rotated.isGenuine(id)).to.equal(true);
    expect(rotated.isGenuine(rotated.next(randomBytes))).to.equal(true);
  });
});

// Tests of the conversion between sessions and Session objects.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { isRecord, recordIn } from '../../../../../apis/reading/unknown-value.ts';
import { ImportedKeys, type KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import { firstSet, newKey } from '../../../../../server/oauth/keys/key-set.ts';
import type { Session } from '../../../../../server/oauth/sessions/session.ts';
import {
  isGenuine,
  isSessionID,
  newSessionID,
  readSession,
  SessionIDs,
  sessionObject,
} from '../../../../../server/oauth/sessions/session-object.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';

describe('a Session object', () => {
  const session = newSession({
    scopes: ['openid', 'groups'],
    generation: 3,
    authentication: {
      proof: { kind: 'password', uid: 'uid-of-her-password', changedAt: Date.now() - 86_400_000 },
      authTime: Date.now() - 1000,
      amr: ['pwd', 'otp', 'mfa'],
      acr: '1fa',
    },
    browser: 's-aaaaaaaaaaaaaaaaaaaa',
    claims: { userinfo: ['name', 'email'], idToken: ['groups'] },
  });
  let keys: KeyRing;

  before(async () => {
    keys = await memoryKeyRing();
  });

  interface Parts {
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly spec: Readonly<Record<string, unknown>>;
  }
  /** The object as kube-apiserver returns it, with the given changes. */
  function kept({ metadata, spec }: Partial<Parts> = {}, of: Session = session): Parts {
    const object = sessionObject('iam.platform.io', of, keys) as Parts;
    return {
      ...object,
      metadata: {
        ...object.metadata,
        uid: 'u1',
        resourceVersion: '7',
        creationTimestamp: new Date(of.createdAt).toISOString().replace(/\.\d+Z/, 'Z'),
        ...metadata,
      },
      spec: { ...object.spec, ...spec },
    };
  }
  function counts(object: unknown): boolean {
    const found = readSession(object);
    return found.session !== undefined && isGenuine(found.session, found.mac, keys);
  }

  it('has a MAC over every field', () => {
    const macOf = (changed: Session) => readSession(kept({}, changed)).mac;
    const other = (value: unknown): unknown =>
      typeof value === 'number' ? value - 1000 : Array.isArray(value) ? [] : `${String(value)}x`;
    const { authentication, ...fields } = session;
    if (!authentication) throw new Error('the session has no authentication');
    const { proof, ...times } = authentication;
    const { claims: _, ...plain } = fields;
    const changed = [
      { claims: { userinfo: ['name'], idToken: ['groups'] } as const },
      { claims: { userinfo: ['name', 'email'], idToken: [] } as const },
      ...Object.entries(plain).map(([field, value]) => ({ [field]: other(value) })),
      ...Object.entries(times).map(([field, value]) => ({
        authentication: { ...authentication, [field]: other(value) },
      })),
      ...Object.entries(proof)
        .filter(([field]) => field !== 'kind')
        .map(([field, value]) => ({
          authentication: { ...authentication, proof: { ...proof, [field]: other(value) } },
        })),
    ];
    for (const change of changed) {
      expect(macOf({ ...session, ...change }), JSON.stringify(change)).to.not.equal(macOf(session));
    }
  });

  it('is the same session in any order of fields, as kube-apiserver returns it', () => {
    const proof = {
      kind: 'identity',
      name: 'i-1',
      uid: 'u',
      groups: ['a'],
      upstream: 'x',
      checkedAt: 1000,
    } as const;
    const password = { uid: 'uid-of-her-password', changedAt: 2000 };
    const of = { ...session, authentication: { proof, password, authTime: 3000, amr: ['pwd'] } };
    const reversed = (value: unknown): unknown =>
      isRecord(value)
        ? Object.fromEntries(
            Object.entries(value)
              .map(([key, member]) => [key, reversed(member)] as const)
              .reverse(),
          )
        : value;
    for (const each of [session, of]) {
      const object = reversed(kept({}, each));
      expect(readSession(object).session).to.deep.include(each);
      expect(counts(object)).to.equal(true);
    }
  });

  it('keeps the address that the identity provider has verified, and is invalid with another one', () => {
    const { authentication } = session;
    if (!authentication) throw new Error('the session has no authentication');
    const proof = { kind: 'identity', name: 'i-1', uid: 'u', groups: ['a'], checkedAt: 1000 } as const;
    const verified = { ...proof, verifiedEmail: 'alice@example.com' };
    const of = { ...session, authentication: { ...authentication, proof: verified } };
    const object = kept({}, of);
    expect(readSession(object).session?.authentication?.proof).to.deep.equal(verified);
    expect(counts(object)).to.equal(true);
    const { checkedTime } = recordIn(object.spec, 'identity');
    const identity = { name: 'i-1', uid: 'u', groups: ['a'], checkedTime };
    for (const changed of [identity, { ...identity, verifiedEmail: 'bob@example.com' }]) {
      expect(counts(kept({ spec: { identity: changed } }, of))).to.equal(false);
    }
  });

  it('is invalid when it was changed, under another name, or with the MAC of another key', async () => {
    expect(counts(kept({ metadata: { name: newSession().id } }))).to.equal(false);
    expect(counts(kept({ spec: { user: 'admin' } }))).to.equal(false);
    const { mac } = readSession(kept());
    expect(isGenuine(session, mac, await memoryKeyRing())).to.equal(false);
    for (const other of ['', 'x', `${mac}0`]) expect(counts(kept({ spec: { mac: other } }))).to.equal(false);
  });

  it('is invalid when it was recreated from a saved copy, or deleted, even with a finalizer', () => {
    for (const apart of [300_000, -300_000]) {
      const creationTimestamp = new Date(session.createdAt + apart).toISOString();
      expect(counts(kept({ metadata: { creationTimestamp } })), 'clocks may differ').to.equal(true);
    }
    const later = new Date(session.createdAt + 301_000).toISOString();
    expect(counts(kept({ metadata: { creationTimestamp: later } }))).to.equal(false);
    expect(counts(kept({ metadata: { creationTimestamp: undefined } }))).to.equal(false);
    const deleted = { deletionTimestamp: later, finalizers: ['example.com/keep'] };
    expect(counts(kept({ metadata: deleted }))).to.equal(false);
  });

  it('is invalid when a field is missing or has the wrong type', () => {
    const times = ['createdTime', 'lastUsedTime', 'notAfter', 'idleNotAfter'];
    const missing = ['user', 'userUID', 'clientID', ...times].map((field) => ({ [field]: undefined }));
    const wrong = [{ scopes: [1] }, { scopes: 'openid' }, { generation: '3' }, { notAfter: 'tomorrow' }];
    for (const spec of [...missing, ...wrong]) {
      const found = readSession(kept({ spec }));
      expect(found.session, JSON.stringify(spec)).to.equal(undefined);
      expect(found).to.include({ name: session.id, uid: 'u1' });
    }
    expect(readSession({ metadata: { name: 'x' } }).session).to.equal(undefined);
    expect(() => readSession({ metadata: {} })).to.throw(SyntaxError);
  });
});

describe('a session id', () => {
  it('is a DNS label with a hundred random bits', () => {
    const ids = Array.from({ length: 200 }, () => newSessionID(randomBytes));
    expect(ids.every(isSessionID)).to.equal(true);
    expect(new Set(ids).size).to.equal(200);
    // Every letter occurs, so the mapping is complete.
    expect(new Set(ids.map((id) => id.slice(2)).join('')).size).to.equal(32);
  });
});

describe('SessionIDs', () => {
  it('recognizes its ids after a rotation', async () => {
    const first = firstSet(await newKey(), 0);
    const id = new SessionIDs(await ImportedKeys.from(first)).next(randomBytes);
    const old = first.keys.map((key) => ({ ...key, state: 'retired' as const }));
    const keys = [...old, ...firstSet(await newKey(), 0).keys];
    const rotated = new SessionIDs(await ImportedKeys.from({ keys }));
    for (const issued of [id, rotated.next(randomBytes)]) expect(rotated.isGenuine(issued)).to.equal(true);
  });
});

// Tests of the session store that keeps sessions as custom resources, against a fake kube-apiserver.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  newConflict,
  newForbidden,
  newInternalError,
  newNotFound,
  newTooManyRequests,
  newUnauthorized,
  StatusError,
} from '../../../../../apis/meta/v1/errors.ts';
import type { Seats } from '../../../../../server/admission/seats.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import type { KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import { ClusterSessionStore } from '../../../../../server/oauth/sessions/cluster-session-store.ts';
import { newSessionID, SessionIDs } from '../../../../../server/oauth/sessions/session-object.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';
import { log } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';
import { fewSeats } from '../../../../support/request-pools.ts';

const TARGET = { group: 'iam.platform.io', resource: 'sessions' };
const signal = new AbortController().signal;

const SEATS = 64;

/** A store after its first list, which was empty. */
class ListedSessions extends ClusterSessionStore {
  constructor(options: ConstructorParameters<typeof ClusterSessionStore>[0]) {
    super(options);
    this.index.replacement().commit('5');
  }
}

describe('the cluster session store', () => {
  let objects: Map<string, unknown>;
  let reads: number;
  let uid: string;
  let creationTime: number;
  let altered: Readonly<Record<string, unknown>>;
  let time: number;
  let response: () => Promise<void> | void;
  let keys: KeyRing;
  let others: KeyRing;
  let changed: () => void;
  let rereads: number;
  let found: KeyRing | undefined;
  let store: ClusterSessionStore;

  before(async () => {
    others = await memoryKeyRing();
  });

  beforeEach(async () => {
    objects = new Map();
    reads = 0;
    uid = 'u1';
    creationTime = Date.now();
    altered = {};
    time = 0;
    response = () => undefined;
    keys = await memoryKeyRing();
    changed = () => undefined;
    rereads = 0;
    found = undefined;
    store = newStore(fewSeats(SEATS));
  });

  const newStore = (lookups: Seats): ClusterSessionStore =>
    new ListedSessions({
      client,
      lookups,
      keys: {
        ready: true,
        signing: () => keys.signing(),
        verification: (kid, alg) => keys.verification(kid, alg),
        hintVerification: (kid, alg) => keys.hintVerification(kid, alg),
        jwks: () => keys.jwks(),
        mac: (purpose, message) => keys.mac(purpose, message),
        macs: (purpose, message) => keys.macs(purpose, message),
        checkMac: (purpose, message, mac) => keys.checkMac(purpose, message, mac),
        subscribe: (listener) => {
          changed = listener;
          return () => undefined;
        },
        reread: async () => {
          rereads++;
          keys = found ?? keys;
        },
      },
      group: TARGET.group,
      log,
      monotonic: () => time,
    });

  const client: ClusterClient = {
    open: () => Promise.reject(new Error('nothing is followed here')),
    json: async ({ method = 'GET', path, json }) => {
      const name = path.split('/').at(-1) ?? '';
      if (method === 'GET') reads++;
      await response();
      if (method !== 'POST') {
        const object = objects.get(name);
        if (!object) throw newNotFound(TARGET, name);
        return object;
      }
      const made = json as { metadata: { name: string }; spec: object };
      const creationTimestamp = new Date(creationTime).toISOString();
      const metadata = { ...made.metadata, uid, resourceVersion: '7', creationTimestamp };
      objects.set(made.metadata.name, { ...made, metadata, spec: { ...made.spec, ...altered } });
      return objects.get(made.metadata.name);
    },
  };

  const refusal = (promise: Promise<unknown>): Promise<string> =>
    promise.then(String, (error: unknown) => (error instanceof StatusError ? error.reason : String(error)));

  it('rejects sessions whose MAC key was removed', async () => {
    const end = new AbortController();
    const running = store.run(end.signal);
    const { id } = await store.create(newSession(), signal);
    expect(store.get(id)).to.have.property('id', id);
    keys = others;
    changed();
    expect(store.get(id)).to.equal(undefined);
    end.abort();
    await running;
  });

  it('re-reads the keys before it rejects a session', async () => {
    const { id } = await store.create(newSession({ id: store.newID(randomBytes) }), signal);
    found = keys;
    keys = others;
    expect(await store.read(id, { signal })).to.have.property('id', id);
    expect(await store.read(id, { signal })).to.have.property('id', id);
    expect(rereads).to.equal(1);
  });

  it('rejects a sign-in when the clocks differ too much, or the cluster stores another object', async () => {
    creationTime = Date.now() - 3_600_000;
    expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
    creationTime = Date.now();
    for (altered of [{ user: 'eve' }, { notAfter: undefined }, { mac: 'x' }]) {
      expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
    }
  });

  for (const error of [
    newUnauthorized(),
    newForbidden(TARGET, 'x', 'no permission'),
    newInternalError(new Error('etcdserver: leader changed')),
    newTooManyRequests('too many requests', 7),
  ]) {
    it(`treats ${error.code} as an unavailable cluster`, async () => {
      const session = await store.create(newSession(), signal);
      response = () => Promise.reject(error);
      for (const request of [
        () => store.create(newSession(), signal),
        () => store.replace(session, signal),
        () => store.delete(session.id, signal),
      ]) {
        const failed = await rejection(request());
        expect(failed).to.have.property('reason', 'ServiceUnavailable');
        if (error.code === 429) expect(failed).to.have.nested.property('details.retryAfterSeconds', 7);
      }
      expect(await refusal(store.read(store.newID(randomBytes), { signal }))).to.equal('ServiceUnavailable');
    });
  }

  it('distinguishes a changed or deleted session from a failing cluster', async () => {
    const session = await store.create(newSession(), signal);
    for (const error of [newNotFound(TARGET, session.id), newConflict(TARGET, session.id, 'modified')]) {
      response = () => Promise.reject(error);
      expect(await refusal(store.replace(session, signal))).to.equal(error.reason);
      expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
    }
    expect(await refusal(store.delete(session.id, signal, session))).to.equal('Conflict');
    response = () => Promise.reject(new StatusError(409, 'AlreadyExists', 'already exists'));
    expect(await refusal(store.create(newSession(), signal))).to.equal('AlreadyExists');
  });

  describe('reads that bypass the cache', () => {
    const newIDs = (count: number): string[] => Array.from({ length: count }, () => store.newID(randomBytes));

    it('are not made for sessions that this replica has deleted', async () => {
      for (const id of newIDs(300)) {
        uid = `uid-of-${id}`;
        await store.create(newSession({ id }), signal);
        await store.delete(id, signal);
        expect(await store.read(id, { signal })).to.equal(undefined);
      }
      expect(reads).to.equal(0);
    });

    it('are not repeated for ten seconds after NotFound', async () => {
      const id = store.newID(randomBytes);
      for (let i = 0; i < 5; i++) expect(await store.read(id, { signal })).to.equal(undefined);
      expect(reads).to.equal(1);
      time += 10_001;
      await store.read(id, { signal });
      expect(reads).to.equal(2);
    });

    it('are not made for invented ids', async () => {
      for (let i = 0; i < 300; i++) {
        expect(await store.read(newSessionID(randomBytes), { signal })).to.equal(undefined);
      }
      expect(reads).to.equal(0);
    });

    it('re-read the keys before an id is rejected', async () => {
      found = others;
      const { id } = newSession({ id: new SessionIDs(others).next(randomBytes) });
      expect(await store.read(id, { signal })).to.equal(undefined);
      expect({ rereads, reads }).to.deep.equal({ rereads: 1, reads: 1 });
    });

    it('of one caller leave seats for another one', async () => {
      store = newStore(fewSeats(4, 'reserve'));
      const { promise, resolve } = Promise.withResolvers<void>();
      response = () => promise;
      const pending = newIDs(3).map((id) => store.read(id, { signal, caller: 'eve' }));
      expect(await refusal(pending.at(-1) ?? Promise.resolve())).to.equal('ServiceUnavailable');
      const other = store.read(store.newID(randomBytes), { signal, caller: 'bob' });
      resolve();
      expect(await other).to.equal(undefined);
      for (const session of await Promise.all(pending.slice(0, 2))) expect(session).to.equal(undefined);
    });

    it('share the seats of lookups', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      response = () => promise;
      const pending = newIDs(SEATS + 1).map((id) => store.read(id, { signal }));
      expect(await refusal(pending.at(-1) ?? Promise.resolve())).to.equal('ServiceUnavailable');
      resolve();
      for (const session of await Promise.all(pending.slice(0, SEATS))) expect(session).to.equal(undefined);
    });
  });
});

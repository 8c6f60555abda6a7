import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  newConflict,
  newForbidden,
  newInternalError,
  newNotFound,
  newTooManyRequests,
  newUnauthorized,
  StatusError,
} from '../../../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import type { KeyRing } from '../../../../../server/oauth/keys/key-ring.ts';
import { ClusterSessionStore } from '../../../../../server/oauth/sessions/cluster-session-store.ts';
import { SessionIDs } from '../../../../../server/oauth/sessions/session-ids.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';

const TARGET = { group: 'iam.platform.io', resource: 'sessions' };
const signal = new AbortController().signal;

describe('the store of sessions in the cluster', () => {
  let objects: Map<string, unknown>;
  let reads: number;
  let uid: string;
  let creationTime: number;
  let altered: Readonly<Record<string, unknown>>;
  let time: number;
  let answer: () => Promise<void> | void;
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
    answer = () => undefined;
    keys = await memoryKeyRing();
    changed = () => undefined;
    rereads = 0;
    found = undefined;
    store = new ClusterSessionStore({
      client,
      keys: {
        ready: true,
        signing: () => keys.signing(),
        verification: (kid) => keys.verification(kid),
        hintVerification: (kid) => keys.hintVerification(kid),
        jwks: () => keys.jwks(),
        mac: (purpose, message) => keys.mac(purpose, message),
        macs: (purpose, message) => keys.macs(purpose, message),
        checkMac: (purpose, message, mac) => keys.checkMac(purpose, message, mac),
        subscribe: (listener) => {
          changed = listener;
          return () => undefined;
        },
        reread: () => {
          rereads++;
          keys = found ?? keys;
          return Promise.resolve();
        },
      },
      group: TARGET.group,
      log: pino({ level: 'silent' }),
      monotonic: () => time,
    });
  });

  const client: ClusterClient = {
    open: () => Promise.reject(new Error('nothing is followed here')),
    json: async ({ method = 'GET', path, json }) => {
      const name = path.split('/').at(-1) ?? '';
      if (method === 'GET') reads++;
      await answer();
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

  async function refusal(promise: Promise<unknown>): Promise<string> {
    const error = await promise.then(
      () => undefined,
      (caught: unknown) => caught,
    );
    return error instanceof StatusError ? error.reason : `no StatusError: ${String(error)}`;
  }

  it('no longer believes in a session when the keys that vouched for it are gone', async () => {
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

  it('looks for new keys before it takes a session for forged', async () => {
    const { id } = await store.create(newSession(), signal);
    found = keys;
    keys = others;
    expect(await store.read(id, signal)).to.have.property('id', id);
    expect(await store.read(id, signal)).to.have.property('id', id);
    expect(rereads).to.equal(1);
  });

  it('refuses to sign in when the clocks are too far apart, rather than giving tokens that do not count', async () => {
    creationTime = Date.now() - 3_600_000;
    expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
  });

  it('refuses to sign in when the cluster keeps something else than was written', async () => {
    for (const spec of [{ user: 'eve' }, { notAfter: undefined }, { mac: 'x' }]) {
      altered = spec;
      expect(await refusal(store.create(newSession(), signal)), JSON.stringify(spec)).to.equal(
        'ServiceUnavailable',
      );
    }
  });

  it('passes on when the cluster can be asked again', async () => {
    answer = () => Promise.reject(newTooManyRequests('too many requests', 7));
    const failed = await store.create(newSession(), signal).catch((error: unknown) => error);
    expect(failed).to.have.nested.property('details.retryAfterSeconds', 7);
  });

  for (const error of [
    newUnauthorized(),
    newForbidden(TARGET, 'x', 'no rights'),
    newInternalError(new Error('etcdserver: leader changed')),
    newTooManyRequests('too many requests', 1),
  ]) {
    it(`takes it for a failure of the cluster when a write is answered with ${error.code}`, async () => {
      const session = await store.create(newSession(), signal);
      answer = () => Promise.reject(error);
      for (const write of [
        () => store.create(newSession(), signal),
        () => store.replace(session, signal),
        () => store.delete(session.id, signal),
      ]) {
        expect(await refusal(write())).to.equal('ServiceUnavailable');
      }
    });
  }

  it('tells a session that was changed or is gone from a cluster that fails', async () => {
    const session = await store.create(newSession(), signal);
    answer = () => Promise.reject(newConflict(TARGET, session.id, 'modified'));
    expect(await refusal(store.replace(session, signal))).to.equal('Conflict');
    expect(await refusal(store.delete(session.id, signal, session))).to.equal('Conflict');
    expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
    answer = () => Promise.reject(newNotFound(TARGET, session.id));
    expect(await refusal(store.replace(session, signal))).to.equal('NotFound');
    expect(await refusal(store.create(newSession(), signal))).to.equal('ServiceUnavailable');
    answer = () => Promise.reject(new StatusError(409, 'AlreadyExists', 'already exists'));
    expect(await refusal(store.create(newSession(), signal))).to.equal('AlreadyExists');
  });

  it('is not fresh before it has followed anything', () => {
    expect(store.fresh).to.equal(false);
  });

  describe('reading past the cache', () => {
    const absent = (i: number): string =>
      `s-${String(i)
        .padStart(20, 'a')
        .replaceAll(/[0189]/g, 'z')}`;
    const names = Array.from({ length: 5_000 }, (_, i) => absent(i));
    const distinct = [...new Set(names)];

    it('asks once for what many want to know at a time', async () => {
      const { id } = await store.create(newSession(), signal);
      const { promise, resolve } = Promise.withResolvers<void>();
      answer = () => promise;
      const asked = Array.from({ length: 50 }, () => store.read(id, signal));
      resolve();
      for (const session of await Promise.all(asked)) expect(session).to.have.property('id', id);
      expect(reads).to.equal(1);
    });

    it('does not ask about sessions whose end it has seen, however many ended at a time', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 300; i++) {
        uid = `u${i}`;
        const { id } = await store.create(newSession(), signal);
        ids.push(id);
        await store.delete(id, signal);
      }
      const found = await Promise.all(ids.map((id) => store.read(id, signal)));
      expect(found.filter((session) => session !== undefined)).to.deep.equal([]);
      expect(reads).to.equal(0);
    });

    it('asks for an id that nobody has not again for ten seconds', async () => {
      const id = absent(1);
      for (let i = 0; i < 5; i++) expect(await store.read(id, signal)).to.equal(undefined);
      expect(reads).to.equal(1);
      time += 10_001;
      await store.read(id, signal);
      expect(reads).to.equal(2);
    });

    it('asks two hundred times at once and a hundred times a second at most, whoever lost them', async () => {
      const genuine = Array.from({ length: 600 }, () => store.newID(randomBytes));
      const answers = [];
      for (const id of genuine.slice(0, 300)) answers.push(await refusal(store.read(id, signal)));
      expect(answers.filter((reason) => reason === 'ServiceUnavailable')).to.have.length(100);
      expect(reads).to.equal(200);
      time += 1_000;
      for (const id of genuine.slice(300)) await store.read(id, signal).catch(() => undefined);
      expect(reads).to.equal(300);
    });

    it('asks twenty times a second at most for invented ids, which keeps nobody from his session', async () => {
      const { id } = await store.create(newSession({ id: store.newID(randomBytes) }), signal);
      for (const invented of distinct.slice(0, 300))
        await store.read(invented, signal).catch(() => undefined);
      expect(reads).to.equal(40);
      time += 1_000;
      for (const invented of distinct.slice(300, 600))
        await store.read(invented, signal).catch(() => undefined);
      expect(reads).to.equal(60);
      expect(await store.read(id, signal)).to.have.property('id', id);
    });

    it('answers for a genuine id while as many invented ones as may wait do', async () => {
      const { id } = await store.create(newSession({ id: store.newID(randomBytes) }), signal);
      const { promise, resolve } = Promise.withResolvers<void>();
      answer = () => promise;
      const asked = distinct.slice(0, 17).map((invented) => store.read(invented, signal));
      expect(await refusal(asked.at(-1) ?? Promise.resolve())).to.equal('ServiceUnavailable');
      answer = () => undefined;
      expect(await store.read(id, signal)).to.have.property('id', id);
      resolve();
      await Promise.allSettled(asked);
    });

    it('finds a session whose id was made with a key that nobody knows any more', async () => {
      const id = new SessionIDs(others).next(randomBytes);
      await store.create(newSession({ id }), signal);
      expect(await store.read(id, signal)).to.have.property('id', id);
    });

    it('keeps no more than 64 questions waiting', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      answer = () => promise;
      const genuine = Array.from({ length: 65 }, () => store.newID(randomBytes));
      const asked = genuine.map((id) => store.read(id, signal));
      expect(await refusal(asked.at(-1) ?? Promise.resolve())).to.equal('ServiceUnavailable');
      resolve();
      for (const session of await Promise.all(asked.slice(0, 64))) expect(session).to.equal(undefined);
    });

    it('says that it cannot tell when the cluster refuses', async () => {
      answer = () => {
        throw newForbidden(TARGET, 'x', 'no rights');
      };
      expect(await refusal(store.read(absent(2), signal))).to.equal('ServiceUnavailable');
    });
  });
});

// Tests of the cache of Session objects.
import { expect } from 'chai';
import { SessionCache } from '../../../../../server/oauth/sessions/session-cache.ts';
import { readSession, sessionObject } from '../../../../../server/oauth/sessions/session-object.ts';
import { describeReflectorSink } from '../../../../conformance/reflector-sink.suite.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';

describeReflectorSink('the cache of sessions', () => {
  const cache = new SessionCache();
  return {
    sink: cache,
    contents: () =>
      cache.synced
        ? [...cache.all()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`)
        : undefined,
  };
});

describe('the session cache', () => {
  const session = newSession();
  let made: object;
  let cache: SessionCache;

  before(async () => {
    made = sessionObject('iam.platform.io', session, await memoryKeyRing());
  });

  beforeEach(() => {
    cache = new SessionCache();
    list();
  });

  function object(resourceVersion: number, uid = 'u1'): object {
    const creationTimestamp = new Date(session.createdAt).toISOString();
    const metadata = { name: session.id, uid, resourceVersion: String(resourceVersion), creationTimestamp };
    return { ...made, metadata };
  }
  const raw = (resourceVersion: number, uid?: string): Buffer =>
    Buffer.from(JSON.stringify(object(resourceVersion, uid)));
  const version = (): string | undefined => cache.get(session.id)?.resourceVersion;
  function list(...objects: readonly Buffer[]): void {
    const replacement = cache.replacement();
    for (const one of objects) replacement.add(one);
    replacement.commit('10');
  }
  function keep(resourceVersion: number, uid?: string): void {
    cache.put(readSession(object(resourceVersion, uid)), cache.generation);
  }

  it('reports each end of a session once: by this replica, by an event, and by a list that lacks it', () => {
    const ended: string[] = [];
    const unsubscribe = cache.onEnd(({ uid }) => ended.push(uid));
    keep(20, 'own');
    cache.remove(session.id, 'own');
    cache.apply('DELETED', raw(21, 'own'));
    cache.apply('ADDED', raw(30, 'event'));
    cache.apply('MODIFIED', raw(31, 'event'));
    cache.apply('DELETED', raw(32, 'event'));
    cache.apply('ADDED', raw(40, 'listed'));
    list(raw(41, 'listed'));
    list(raw(50, 'recreated'));
    list();
    expect(ended).to.deep.equal(['own', 'event', 'listed', 'recreated']);
    unsubscribe();
    cache.apply('ADDED', raw(60, 'later'));
    list();
    expect(ended).to.have.length(4);
  });

  it('returns a write of this replica before the watch delivers it, and never an older version afterwards', () => {
    keep(20);
    cache.apply('ADDED', raw(11));
    expect(version()).to.equal('20');
    cache.apply('MODIFIED', raw(100));
    expect(version()).to.equal('100');
    keep(99);
    expect(version()).to.equal('100');
    expect(cache.ofUser('alice').map(({ name }) => name)).to.deep.equal([session.id]);
  });

  it('reports a deletion, which a late response does not undo, until the session exists again', () => {
    expect(cache.wasDeleted(session.id)).to.equal(false);
    cache.apply('ADDED', raw(11));
    cache.apply('DELETED', raw(13));
    keep(12);
    expect(version(), 'the response to an earlier write').to.equal(undefined);
    expect(cache.wasDeleted(session.id)).to.equal(true);
    cache.apply('ADDED', raw(14, 'u2'));
    expect(cache.wasDeleted(session.id)).to.equal(false);
    cache.remove(session.id, 'u2');
    expect(cache.wasDeleted(session.id)).to.equal(true);
  });

  it('does not restore a session that this replica deleted', () => {
    cache.apply('ADDED', raw(11));
    cache.remove(session.id, 'u1');
    cache.apply('MODIFIED', raw(12));
    expect(version()).to.equal(undefined);
    expect(cache.ofUser('alice')).to.deep.equal([]);
    list(raw(12));
    expect(version()).to.equal(undefined);
  });

  it('ignores the response to a write when a list has completed since', () => {
    const { generation } = cache;
    list();
    cache.put(readSession(object(12)), generation);
    expect(version()).to.equal(undefined);
  });

  it('records the latest ten thousand deletions', () => {
    cache.remove(session.id, 'u1');
    for (let i = 0; i < 9_999; i++) cache.remove(`s-${i}`, `uid-${i}`);
    expect(cache.wasDeleted(session.id)).to.equal(true);
    cache.remove('s-last', 'uid-last');
    expect(cache.wasDeleted(session.id)).to.equal(false);
    for (const id of ['s-0', 's-last']) expect(cache.wasDeleted(id), id).to.equal(true);
  });

  it('keeps the new object of a name when the deletion of the old one is delivered late', () => {
    keep(20, 'u2');
    cache.apply('DELETED', raw(15, 'u1'));
    expect(version()).to.equal('20');
    cache.remove(session.id, 'u1');
    expect(version()).to.equal('20');
  });
});

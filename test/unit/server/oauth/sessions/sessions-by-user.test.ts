// Tests of the sessions of each user and of their ends, as the index of Session objects reports them.
import { expect } from 'chai';
import { ObjectIndex } from '../../../../../server/cluster/reflector/object-index.ts';
import {
  type FoundSession,
  readSession,
  sessionObject,
} from '../../../../../server/oauth/sessions/session-object.ts';
import { SessionsByUser } from '../../../../../server/oauth/sessions/sessions-by-user.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { newSession } from '../../../../support/oauth/new-session.ts';

describe('SessionsByUser', () => {
  const session = newSession();
  let made: object;
  let sessions: SessionsByUser;
  let index: ObjectIndex<FoundSession>;

  before(async () => {
    made = sessionObject('iam.platform.io', session, await memoryKeyRing());
  });

  beforeEach(() => {
    sessions = new SessionsByUser();
    index = new ObjectIndex(readSession, (before, after) => sessions.changed(before, after));
    list(10);
  });

  function object(resourceVersion: number, uid: string): object {
    const creationTimestamp = new Date(session.createdAt).toISOString();
    const metadata = { name: session.id, uid, resourceVersion: String(resourceVersion), creationTimestamp };
    return { ...made, metadata };
  }
  const raw = (resourceVersion: number, uid: string): Buffer =>
    Buffer.from(JSON.stringify(object(resourceVersion, uid)));
  function list(resourceVersion: number, ...objects: readonly Buffer[]): void {
    const replacement = index.replacement();
    for (const one of objects) replacement.add(one);
    replacement.commit(String(resourceVersion));
  }

  it('reports each end of a session once: by this replica, by an event, and by a list that lacks it', () => {
    const ended: string[] = [];
    const unsubscribe = sessions.onEnd(({ uid }) => ended.push(uid));
    index.put(object(20, 'own'));
    index.remove(session.id, 'own');
    index.apply('DELETED', raw(21, 'own'));
    index.apply('ADDED', raw(30, 'event'));
    index.apply('MODIFIED', raw(31, 'event'));
    index.apply('DELETED', raw(32, 'event'));
    index.apply('ADDED', raw(40, 'listed'));
    list(41, raw(41, 'listed'));
    list(50, raw(50, 'recreated'));
    list(51);
    expect(ended).to.deep.equal(['own', 'event', 'listed', 'recreated']);
    unsubscribe();
    index.apply('ADDED', raw(60, 'later'));
    list(61);
    expect(ended).to.have.length(4);
  });

  it('has each session of a user in its latest version, until it ends', () => {
    const versions = (): string[] => sessions.of('alice').map(({ resourceVersion }) => resourceVersion);
    index.put(object(20, 'u1'));
    index.apply('ADDED', raw(20, 'u1'));
    expect(versions()).to.deep.equal(['20']);
    index.apply('MODIFIED', raw(100, 'u1'));
    list(100, raw(100, 'u1'));
    expect(versions()).to.deep.equal(['100']);
    index.remove(session.id, 'u1');
    expect(versions()).to.deep.equal([]);
    expect(sessions.hasEnded(session.id)).to.equal(true);
  });

  it('records the latest ten thousand ends', () => {
    sessions.ended(session.id);
    for (let i = 0; i < 9_999; i++) sessions.ended(`s-${i}`);
    expect(sessions.hasEnded(session.id)).to.equal(true);
    sessions.ended('s-last');
    expect(sessions.hasEnded(session.id)).to.equal(false);
    for (const id of ['s-0', 's-last']) expect(sessions.hasEnded(id), id).to.equal(true);
  });
});

// Tests of the termination of a user's sessions after a change of the user.
import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { UserSessions } from '../../../../server/iam/user-sessions.ts';
import { MemorySessionStore, MemorySessions } from '../../../support/oauth/memory-session-store.ts';
import { newSession } from '../../../support/oauth/new-session.ts';

describe('sessions of a user', () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const signal = new AbortController().signal;
  let store: MemorySessionStore;

  beforeEach(async () => {
    lines.length = 0;
    store = new MemorySessionStore(new MemorySessions());
    for (const user of ['ada', 'ada', 'bob']) await store.create(newSession({ user }));
  });

  it('are all deleted, with one log message if some cannot be deleted', async () => {
    await new UserSessions(store, log).terminate('bob', signal);
    expect([store.ofUser('ada').length, store.ofUser('bob').length]).to.deep.equal([2, 0]);
    expect(lines).to.deep.equal([]);
    const [stuck] = store.ofUser('ada');
    const sessions = {
      ofUser: (user: string) => store.ofUser(user),
      delete: (id: string) =>
        id === stuck?.id
          ? Promise.reject(newServiceUnavailable('kube-apiserver is unreachable'))
          : store.delete(id, signal),
    };
    await new UserSessions(sessions, log).terminate('ada', signal);
    expect(store.ofUser('ada').map(({ id }) => id)).to.deep.equal([stuck?.id]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ user: 'ada', sessions: 1, msg: 'cannot delete sessions' });
    expect(lines[0]?.['err']).to.include({ message: 'kube-apiserver is unreachable' });
  });
});

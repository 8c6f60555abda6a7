import { expect } from 'chai';
import { pino } from 'pino';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { SessionEnding } from '../../../../server/iam/session-ending.ts';
import { MemorySessionStore, MemorySessions } from '../../../support/oauth/memory-session-store.ts';
import { newSession } from '../../../support/oauth/new-session.ts';

describe('the sessions of a user who has to go', () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
  const signal = new AbortController().signal;
  let store: MemorySessionStore;

  beforeEach(async () => {
    lines.length = 0;
    store = new MemorySessionStore(new MemorySessions());
    for (const user of ['ada', 'ada', 'bob']) await store.create(newSession({ user }));
  });

  it('end, all of them, and nothing is said of it', async () => {
    await new SessionEnding(store, log).endAll('ada', signal);
    expect([store.ofUser('ada').length, store.ofUser('bob').length]).to.deep.equal([0, 1]);
    expect(lines).to.deep.equal([]);
  });

  it('are told in one line when they cannot be deleted, and keep none of the others', async () => {
    const [stuck] = store.ofUser('ada');
    const sessions = {
      ofUser: (user: string) => store.ofUser(user),
      delete: (id: string) =>
        id === stuck?.id
          ? Promise.reject(newServiceUnavailable('the cluster is away'))
          : store.delete(id, signal),
    };
    await new SessionEnding(sessions, log).endAll('ada', signal);
    expect(store.ofUser('ada').map(({ id }) => id)).to.deep.equal([stuck?.id]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ user: 'ada', sessions: 1, msg: 'sessions could not be deleted' });
    expect(lines[0]?.['err']).to.include({ message: 'the cluster is away' });
  });
});

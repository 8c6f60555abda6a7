// Tests of fair sharing of exports and live tails across callers.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { ExportBatches } from '../../../../../server/logging/store/log-store.ts';
import { receivedBody } from '../../../../support/handler-server.ts';
import { LOGS, LogService, line } from '../../../../support/logging/log-service.ts';
import { MemoryLogStore, toLogRecord } from '../../../../support/logging/memory-log-store.ts';

const RECORD = toLogRecord(line('2026-11-20T10:00:00.000000000Z', 'x'.repeat(10_000)));

const EXPORT = 'operation=export&format=ndjson';

/** Endless exports. */
class EndlessLogStore extends MemoryLogStore {
  override async *export(): ExportBatches {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      yield Array.from({ length: 100 }, () => RECORD);
    }
  }
}

describe('fairness among callers', () => {
  let service: LogService;
  let store: EndlessLogStore;
  const opened: IncomingMessage[] = [];
  beforeEach(async () => {
    const limits = { concurrentExports: 2, concurrentFollowers: 2 };
    store = new EndlessLogStore([]);
    service = await new LogService({ store, limits }).start();
  });
  afterEach(async () => {
    for (const answer of opened.splice(0)) answer.destroy();
    await service.stop();
  });

  const openAs = async (name: string, query: string): Promise<IncomingMessage> => {
    service.user = { name, uid: '', groups: ['system:authenticated'], extra: {} };
    const answer = await service.server.open(`${LOGS}?${query}`);
    // Of preempted streams.
    answer.on('error', () => undefined);
    opened.push(answer);
    return answer;
  };
  const statusOf = async (name: string, query: string): Promise<number | undefined> =>
    (await openAs(name, query)).statusCode;

  it('preempts a live tail of a caller with several for a caller with none, and reports it', async () => {
    await openAs('mallory', 'follow=true');
    const second = await openAs('mallory', 'follow=true');
    expect(await statusOf('mallory', 'follow=true')).to.equal(429);
    expect(await statusOf('jane', 'follow=true')).to.equal(200);
    const message = 'preempted: other callers need one of your live tails; try again later';
    expect(JSON.parse(await text(second))).to.deep.equal({ error: { reason: 'Limit', message } });
    for (const name of ['mallory', 'jane']) expect(await statusOf(name, 'follow=true')).to.equal(429);
  });

  it('preempts the oldest live tail if each caller has one, for a caller with none', async () => {
    const oldest = await openAs('mallory', 'follow=true');
    await openAs('jane', 'follow=true');
    expect(await statusOf('john', 'follow=true')).to.equal(200);
    expect(JSON.parse(await text(oldest))).to.have.nested.property('error.reason', 'Limit');
  });

  it('passes the caller to the store', async () => {
    const callers: (string | undefined)[] = [];
    store.query = (_selection, _page, { caller }) => {
      callers.push(caller);
      return Promise.reject(new Error('unavailable'));
    };
    for (const name of ['jane', 'system:serviceaccount:evil:one']) await openAs(name, '');
    expect(callers).to.deep.equal(['jane', 'system:serviceaccounts:evil']);
  });

  it('counts all service accounts of a namespace as one caller', async () => {
    await openAs('system:serviceaccount:evil:one', 'follow=true');
    await openAs('system:serviceaccount:evil:two', 'follow=true');
    expect(await statusOf('system:serviceaccount:evil:three', 'follow=true')).to.equal(429);
    expect(await statusOf('system:serviceaccount:shop:cart', 'follow=true')).to.equal(200);
  });

  it('preempts an export, which reports that it is incomplete', async () => {
    await openAs('mallory', EXPORT);
    const second = receivedBody(await openAs('mallory', EXPORT));
    expect(await statusOf('jane', EXPORT)).to.equal(200);
    const last = (await second).body.toString().trimEnd().split('\n').at(-1);
    const message = 'preempted: other callers need one of your log exports; try again later';
    expect(JSON.parse(last ?? '')).to.deep.equal({ error: { reason: 'Limit', message } });
  });
});

import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { PageReader } from '../../../../../../../server/logging/backends/kubernetes/paging/page-reader.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import { Pass } from '../../../../../../../server/logging/backends/kubernetes/reading/pass.ts';
import { Shortfalls } from '../../../../../../../server/logging/backends/kubernetes/reading/shortfalls.ts';
import { at, call, everything } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';
import { logSource } from '../log-source.ts';

describe('a page that is read by windows of time', () => {
  let cluster: LogCluster;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(() => cluster.stop());

  it('says so when the time is up between two of them', async () => {
    cluster.add('shop', 'a', [at(1), at(86_399)]);
    const deadline = new AbortController();
    const shortfalls = new Shortfalls({ count: 0, names: [] });
    const pass = new Pass({
      reader: new LogReader({ client: cluster.connect(), slots: new Slots(1), turns: new Turns() }),
      sources: [logSource('a')],
      // Looked at when a window has been read.
      pods: {
        get: () => {
          deadline.abort();
          return undefined;
        },
      },
      beginOf: () => everything.range.start,
      end: everything.range.end,
      filter: () => true,
      bytesPerContainer: 1 << 20,
      parallel: 1,
      deadline: deadline.signal,
      signal: call.signal,
      shortfalls,
      onFailure: () => undefined,
    });
    const page = await new PageReader({
      pass,
      selection: everything,
      memory: new MemoryBudget(1 << 20).share(),
    }).read({
      order: 'desc',
      size: 5,
      from: 0,
      uncounted: true,
    });
    expect(page.records.map(({ log }) => log)).to.deep.equal(['line 86399']);
    expect(page.shortfalls.map(({ reason }) => reason)).to.deep.equal(['Timeout']);
  });
});

import { expect } from 'chai';
import { Slots } from '../../../../../../../server/cluster/slots.ts';
import { sourcesOf } from '../../../../../../../server/logging/backends/kubernetes/pods/source-selection.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { Turns } from '../../../../../../../server/logging/work/turns.ts';
import { at } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';

const run = { id: 'one', startedAt: 0, finishedAt: undefined };
const container = { name: 'app', running: true, restarts: 0, current: run, previous: undefined };
const [source] = sourcesOf({ namespace: 'shop', name: 'a', uid: '', node: '', containers: [] }, container);

describe('the reading of a log', () => {
  let cluster: LogCluster;

  beforeEach(async () => {
    cluster = await new LogCluster().start();
  });

  afterEach(() => cluster.stop());

  it('lets everything else run between two lines, however long what they are for takes', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => at(n));
    cluster.add('shop', 'a', lines);
    // Every line uses up its slice.
    const turns = new Turns(0);
    const reader = new LogReader({ client: cluster.connect(), slots: new Slots(1), turns });
    let others = 0;
    let isReading = true;
    const other = (): void => {
      others++;
      if (isReading) setImmediate(other);
    };
    setImmediate(other);
    const seen: { text: string; others: number }[] = [];
    if (!source) throw new Error('no log');
    const { signal } = new AbortController();
    await reader.read(source, { since: undefined, signal }, (_, text) => seen.push({ text, others }));
    isReading = false;
    expect(seen.map(({ text }) => text)).to.deep.equal(lines.map(({ text }) => text));
    expect(new Set(seen.map((one) => one.others)).size).to.equal(30);
  });
});

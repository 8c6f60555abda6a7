import { expect } from 'chai';
import { Slots } from '../../../../../../../server/concurrency/slots.ts';
import { Turns } from '../../../../../../../server/concurrency/turns.ts';
import { lastLineOf } from '../../../../../../../server/logging/backends/kubernetes/reading/log-ends.ts';
import { LogReader } from '../../../../../../../server/logging/backends/kubernetes/reading/log-reader.ts';
import { at, call } from '../instants.ts';
import { LogCluster } from '../log-cluster.ts';
import { logSource } from '../log-source.ts';

describe('the last line of a log', () => {
  it('is known by its time, however long it is', async () => {
    const cluster = await new LogCluster().start();
    cluster.add('shop', 'a', [at(1), at(7, 'x'.repeat(1_000))]);
    const reader = new LogReader({ client: cluster.connect(), slots: new Slots(1), turns: new Turns() });
    expect(await lastLineOf(reader, logSource('a'), call.signal)).to.equal(at(7).time);
    await cluster.stop();
  });
});

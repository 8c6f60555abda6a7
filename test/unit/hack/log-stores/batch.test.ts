// Tests of the upload of log records in batches.
import { expect } from 'chai';
import { type Batch, sendBatches } from '../../../../hack/log-stores/batch.ts';
import type { LogRecord } from '../../../../hack/log-stores/record.ts';
import { rejection } from '../../../support/rejection.ts';

/** Returns a generator of `count` log records, and the number of log records taken from the generator. */
function source(count: number): { taken: number; records: Generator<LogRecord> } {
  const state = { taken: 0, records: generate() };
  function* generate(): Generator<LogRecord> {
    while (state.taken < count) {
      state.taken++;
      yield {
        log: `line ${state.taken}`,
        time: '2026-11-20T10:00:00.000000001Z',
        stream: 'stdout',
        kubernetes: {
          pod_name: 'web-1',
          namespace_name: 'shop',
          pod_id: 'uid-1',
          container_name: 'web',
          docker_id: 'id-1',
          container_image: 'web:1',
          host: 'node-1',
          labels: {},
        },
      };
    }
  }
  return state;
}

const lines = (record: LogRecord): string => `${record.log}\n`;

describe('loading in batches', () => {
  it('sends every record once, the last ones in a smaller batch', async () => {
    const batches: Batch[] = [];
    const progressLines: string[] = [];
    const sent = await sendBatches('store', source(7).records, {
      batch: 3,
      lines,
      progress: (line) => progressLines.push(line),
      send: async (batch) => {
        batches.push(batch);
      },
    });
    expect(sent).to.equal(7);
    expect(batches.map(({ records }) => records)).to.deep.equal([3, 3, 1]);
    expect(batches.map(({ text }) => text).join('')).to.equal(
      [1, 2, 3, 4, 5, 6, 7].map((line) => `line ${line}\n`).join(''),
    );
    expect(progressLines.at(-1)).to.equal('store: 7 lines loaded');
  });

  it('has two concurrent requests and reads no more records than the next one needs', async () => {
    const { promise: both, resolve: bothSent } = Promise.withResolvers<void>();
    const responses: PromiseWithResolvers<void>[] = [];
    const from = source(100);
    const sending = sendBatches('store', from.records, {
      batch: 10,
      lines,
      send: () => {
        const response = Promise.withResolvers<void>();
        responses.push(response);
        if (responses.length === 2) bothSent();
        if (responses.length > 2) response.resolve();
        return response.promise;
      },
    });
    await both;
    // Further reads without a response would happen before this.
    await new Promise((resolve) => setImmediate(resolve));
    expect(responses).to.have.length(2);
    expect(from.taken).to.equal(30);
    for (const response of responses) response.resolve();
    expect(await sending).to.equal(100);
  });

  it('stops at the first failed batch, and aborts the other one', async () => {
    const from = source(1_000);
    let aborted = false;
    let batches = 0;
    const sending = sendBatches('store', from.records, {
      batch: 10,
      lines,
      send: (_, signal) => {
        if (++batches === 2) return Promise.reject(new Error('refused'));
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason);
          });
        });
      },
    });
    expect((await rejection(sending)).message).to.equal('refused');
    expect(aborted).to.equal(true);
    expect(from.taken).to.be.below(50);
  });
});

// Tests of the scan of container logs, and of its reports of missing lines.
import { expect } from 'chai';
import { Shortfalls } from '../../../../../../server/logging/backends/kubernetes/shortfalls.ts';
import { at, call, containerLog, everything } from './instants.ts';
import { type Container, clusterForEachTest, type LogCluster } from './log-cluster.ts';

const PAGE = { order: 'asc', size: 100, from: 0 } as const;

describe('a scan of container logs', () => {
  let cluster: LogCluster;
  clusterForEachTest((started) => (cluster = started));

  it('reads the start and the end of a log above bytesPerLog, without duplicates', async () => {
    const lines = Array.from({ length: 100 }, (_, n) => at(n, String(n).padStart(69, ' ')));
    cluster.add('shop', 'long', lines);
    cluster.add('bank', 'short', lines.slice(0, 30));
    const store = cluster.store({ bytesPerContainer: 20 * 101 });
    const read = async (pod: string) => {
      const { records, shortfalls } = await store.query(
        { ...everything, pods: { exact: [pod] } },
        PAGE,
        call,
      );
      return {
        numbers: records.map(({ log }) => Number(log)),
        missing: shortfalls.map(({ message }) => message),
      };
    };
    // Of 20 lines, 18 are read from the end.
    const numbers = (from: number, to: number) => lines.map((_, n) => n).slice(from, to);
    const missing = ['1 log too long: only the oldest and the newest lines were read: shop/long/app'];
    expect(await read('long')).to.deep.equal({ numbers: [...numbers(0, 20), ...numbers(82, 100)], missing });
    expect((await read('short')).numbers).to.deep.equal(numbers(0, 30));
  });

  describe('reports deleted lines', () => {
    const range = { ...everything.range, start: at(3600).time };
    /** `startedAt` and `first` in seconds of the day. */
    const reported = async (startedAt: number, first: number | undefined, more: Partial<Container> = {}) => {
      const lines = first === undefined ? [] : [at(first)];
      cluster.add('shop', 'a', lines, { startedAt: at(startedAt).time, ...more });
      const { shortfalls } = await cluster.store().query({ ...everything, range }, PAGE, call);
      const messages = shortfalls.map(({ message }) => message).join();
      const [, cause, kept] = /^1 log (rotated|without lines before).*\((\S+)\)$/.exec(messages) ?? [];
      return cause && `${cause} ${kept}`;
    };

    it('if the first line is much later than the start of the range and of the container', async () => {
      expect(await reported(0, 3602)).to.equal(`rotated ${at(3602).time}`);
      expect(await reported(4000, 4061)).to.equal(`rotated ${at(4061).time}`);
      expect(await reported(0, 3601)).to.equal(undefined);
      expect(await reported(4000, 4060)).to.equal(undefined);
      expect(await reported(0, undefined)).to.equal(undefined);
    });

    it('if earlier runs than the previous one were within the range', async () => {
      const restarts = 2;
      expect(await reported(4000, 4001, { restarts })).to.equal(`without lines before ${at(4000).time}`);
      expect(await reported(4000, undefined, { restarts })).to.equal(`without lines before ${at(4000).time}`);
      expect(await reported(3600, 3600, { restarts })).to.equal(undefined);
    });
  });

  it('combines logs with the same shortfall, sorts by reason, and lists at most five logs', () => {
    const shortfalls = new Shortfalls({ count: 9, names: ['f', 'e', 'd', 'c', 'b'] });
    for (const pod of ['z', 'y', 'y']) shortfalls.addLog('NotCovered', 'not read', containerLog(pod));
    shortfalls.addLog('NotCovered', 'rotated', containerLog('r'), ' (now)');
    for (let n = 0; n < 2; n++) shortfalls.add('Limit', 'truncated');
    for (const unread of [2, 1, 0]) shortfalls.timedOut(unread);
    expect(shortfalls.list()).to.deep.equal([
      { reason: 'Timeout', message: 'the time limit ended before 1 log was read to the end' },
      {
        reason: 'Limit',
        message:
          '9 logs not read, because one query reads no more containers; select fewer: b, c, d, e, f and 4 more',
      },
      { reason: 'Limit', message: 'truncated' },
      { reason: 'NotCovered', message: '2 logs not read: shop/y/app, shop/z/app' },
      { reason: 'NotCovered', message: '1 log rotated: shop/r/app (now)' },
    ]);
  });
});

// Tests of log queries against the pod log API as the log store.
import { expect } from 'chai';
import { array, record, text } from '../../apis/reading/unknown-value.ts';
import type { Platform } from './platform.ts';

const LOGS = '/apis/logging.platform.io/v1alpha2/logs';

export function describePodLogs(subject: () => Platform): void {
  describe('log queries over pod logs', () => {
    let platform: Platform;

    before(() => {
      platform = subject();
    });

    const ask = async (query: string): Promise<Readonly<Record<string, unknown>>> =>
      record(JSON.parse(await platform.succeeding('get', '--raw', `${LOGS}?${query}`)));

    it('return the lines of kubectl logs, newest first', async () => {
      const { query, partial } = await ask('size=5');
      expect(partial).to.equal(undefined);
      const [newest] = array(record(query)['records']).map(record);
      const { namespace, pod, container, log } = newest ?? {};
      const shown = await platform.succeeding(
        ...['logs', '--namespace', text(namespace), text(pod), '--container', text(container)],
      );
      expect(shown).to.include(text(log)).and.not.equal('');
    });

    it('count and export lines in order', async () => {
      const statistics = record((await ask('operation=statistics'))['statistics']);
      expect(statistics['logs']).to.be.above(100);
      const histogram = record((await ask('operation=histogram&interval=1h'))['histogram']);
      const counts = array(histogram['histograms']).map((bucket) => Number(record(bucket)['count']));
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(histogram['total']);
      const lines = (
        await platform.succeeding('get', '--raw', `${LOGS}?operation=export&sort=asc&format=ndjson`)
      )
        .trimEnd()
        .split('\n')
        .map((each) => text(record(JSON.parse(each))['time']));
      expect(lines).to.have.length.above(100);
      expect(lines).to.deep.equal(lines.toSorted());
    });

    it('return surrounding lines', async () => {
      const { query } = await ask('size=1&from=20');
      const id = text(record(array(record(query)['records'])[0])['id']);
      const around = record((await ask(`context=${id}&before=2&after=2`))['query']);
      const records = array(around['records']).map(record);
      expect(records).to.have.length(5);
      expect(records[2]).to.have.property('id', id);
      expect(new Set(records.map(({ pod, container }) => `${text(pod)}/${text(container)}`)).size).to.equal(
        1,
      );
    });
  });
}

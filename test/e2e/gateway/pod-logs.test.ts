// Tests of log queries against the pod log API as the log store.
import { expect } from 'chai';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import type { Platform } from '../platform.ts';
import { sharedGateway } from './shared-gateway.ts';

const LOGS = '/apis/logging.platform.io/v1alpha2/logs';

describe('log queries over pod logs', () => {
  let platform: Platform;

  before(async () => {
    ({ platform } = await sharedGateway());
  });

  const ask = async (query: string): Promise<Readonly<Record<string, unknown>>> =>
    record(JSON.parse(await platform.succeeding(`get --raw ${LOGS}?${query}`)));

  it('return the lines of kubectl logs, newest first', async () => {
    const { query, partial } = await ask('size=5');
    expect(partial).to.equal(undefined);
    const [newest] = array(record(query)['records']).map(record);
    const { namespace, pod, container, log } = newest ?? {};
    const args = `-n ${text(namespace)} ${text(pod)} -c ${text(container)}`;
    const shown = await platform.succeeding(`logs ${args}`);
    expect(shown).to.include(text(log)).and.not.equal('');
  });
});

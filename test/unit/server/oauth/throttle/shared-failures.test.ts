// Tests of the known sources in failures that replicas share, with a ConfigMap in memory.
import { expect } from 'chai';
import { pino } from 'pino';
import { record, recordIn, texts } from '../../../../../apis/reading/unknown-value.ts';
import { THROTTLE } from '../../../../../server/oauth/throttle/delays.ts';
import { type FailureRecord, SharedFailures } from '../../../../../server/oauth/throttle/shared-failures.ts';
import { running } from '../../../../support/running.ts';
import { until } from '../../../../support/until.ts';

const ACCOUNT = 'account-alice';
const DAY_MS = 86_400_000;
const now = Date.now();

describe('the known sources of shared failures', () => {
  let data: Readonly<Record<string, string>>;
  beforeEach(() => {
    data = {};
  });

  function newReplica(): SharedFailures {
    const client = {
      open: () => Promise.reject(new Error('no watch')),
      json: async ({ json }: { readonly json?: unknown }) => {
        data = { ...data, ...texts(recordIn(json, 'data')) };
        return { metadata: { resourceVersion: '1' }, data };
      },
    };
    const limits = { ...THROTTLE, failures: 5 };
    const log = pino({ level: 'silent' });
    return new SharedFailures({ limits, client, namespace: 'platform-system', log, now: () => now });
  }
  const known = (sources: FailureRecord['known']) => (before: FailureRecord) => ({
    ...before,
    known: sources,
  });

  it('have the time of the last sign-in, also after a write of a replica with an earlier one', async () => {
    const replica = newReplica();
    await using stack = new AsyncDisposableStack();
    stack.use(running((signal) => replica.run(signal)));
    replica.keep(ACCOUNT, known({ home: now }));
    data = { [ACCOUNT]: JSON.stringify({ failures: 9, lastAt: now, known: { home: now - 29 * DAY_MS } }) };
    await replica.change('account-bob', (before) => ({ ...before, failures: 1, lastAt: now }));
    expect(replica.get(ACCOUNT)).to.deep.equal({ failures: 9, lastAt: now, known: { home: now } });
    await until(() => recordIn(record(JSON.parse(data[ACCOUNT] ?? '')), 'known')['home'] === now);
  });

  it('are the same at all replicas, also of nine sign-ins at the same time', () => {
    const sources = Array.from({ length: 9 }, (_, index) => [`source-${index}`, now] as const);
    const [a, b] = [newReplica(), newReplica()];
    a.keep(ACCOUNT, known(Object.fromEntries(sources)));
    b.keep(ACCOUNT, known(Object.fromEntries(sources.toReversed())));
    expect(a.get(ACCOUNT)).to.deep.equal(b.get(ACCOUNT));
  });
});

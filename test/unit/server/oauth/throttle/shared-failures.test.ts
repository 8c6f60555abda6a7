// Tests of failures that replicas share, with a ConfigMap in memory, and with a fake kube-apiserver.
import { expect } from 'chai';
import { pino } from 'pino';
import { record, recordIn, texts } from '../../../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../../../../server/cluster/connection/client.ts';
import { THROTTLE } from '../../../../../server/oauth/throttle/delays.ts';
import { type FailureRecord, SharedFailures } from '../../../../../server/oauth/throttle/shared-failures.ts';
import {
  bookmark,
  type Call,
  event,
  ScriptedCluster,
  send,
} from '../../../../support/cluster/scripted-cluster.ts';
import { running } from '../../../../support/running.ts';
import { until } from '../../../../support/until.ts';

const ACCOUNT = 'account-alice';
const DAY_MS = 86_400_000;
const now = Date.now();

describe('shared failures', () => {
  let data: Readonly<Record<string, string>>;
  beforeEach(() => {
    data = {};
  });

  function newReplica(connected?: ClusterClient): SharedFailures {
    const client = connected ?? {
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

  it('have the time of the last sign-in at a known source, also after a write of a replica with an earlier one', async () => {
    const replica = newReplica();
    await using stack = new AsyncDisposableStack();
    stack.use(running((signal) => replica.run(signal)));
    replica.keep(ACCOUNT, known({ home: now }));
    data = { [ACCOUNT]: JSON.stringify({ failures: 9, lastAt: now, known: { home: now - 29 * DAY_MS } }) };
    await replica.change('account-bob', (before) => ({ ...before, failures: 1, lastAt: now }));
    expect(replica.get(ACCOUNT)).to.deep.equal({ failures: 9, lastAt: now, known: { home: now } });
    await until(() => recordIn(record(JSON.parse(data[ACCOUNT] ?? '')), 'known')['home'] === now);
  });

  it('have the same known sources at all replicas, also after nine sign-ins at the same time', () => {
    const sources = Array.from({ length: 9 }, (_, index) => [`source-${index}`, now] as const);
    const [a, b] = [newReplica(), newReplica()];
    a.keep(ACCOUNT, known(Object.fromEntries(sources)));
    b.keep(ACCOUNT, known(Object.fromEntries(sources.toReversed())));
    expect(a.get(ACCOUNT)).to.deep.equal(b.get(ACCOUNT));
  });

  it('stay current when the response of a write is slower than the event of a later one', async () => {
    const calls = Promise.withResolvers<Call>();
    const watch = Promise.withResolvers<Call>();
    await using cluster = await ScriptedCluster.start((call) => {
      if (call.kind === 'stream') {
        send(call.response, bookmark(1, true));
        watch.resolve(call);
      } else calls.resolve(call);
    });
    const stored = (failures: number, version: number): string =>
      JSON.stringify({
        metadata: {
          name: 'ks-apiserver-login-throttle',
          namespace: 'platform-system',
          uid: 'u',
          resourceVersion: `${version}`,
        },
        data: { [ACCOUNT]: JSON.stringify({ failures, lastAt: now, known: {} }) },
      });
    const replica = newReplica(cluster.connect());
    await using stack = new AsyncDisposableStack();
    stack.use(running((signal) => replica.run(signal)));
    const { response: events } = await watch.promise;
    const written = replica.change(ACCOUNT, (before) => ({ ...before, failures: 1, lastAt: now }));
    const { response } = await calls.promise;
    send(events, event('ADDED', stored(2, 11)));
    await until(() => replica.get(ACCOUNT).failures === 2);
    response.writeHead(201, { 'content-type': 'application/json' }).end(stored(1, 10));
    await written;
    expect(replica.get(ACCOUNT).failures).to.equal(2);
  });
});

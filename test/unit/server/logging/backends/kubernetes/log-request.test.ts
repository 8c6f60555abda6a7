// Tests of requests to the pod log API.
import { expect } from 'chai';
import type { ClusterClient } from '../../../../../../server/cluster/connection/client.ts';
import {
  LogReadError,
  type LogRequest,
  openLog,
} from '../../../../../../server/logging/backends/kubernetes/log-request.ts';
import { status } from '../../../../../support/cluster/scripted-cluster.ts';
import { at } from './instants.ts';
import { LogCluster } from './log-cluster.ts';

const log = { namespace: 'shop', pod: 'a', container: 'app', previous: false };

describe('a pod log request', () => {
  let cluster: LogCluster;
  let client: ClusterClient;
  const { signal } = new AbortController();

  beforeEach(async () => {
    cluster = await new LogCluster().start();
    client = cluster.connect();
  });

  afterEach(() => cluster.stop());

  const open = async (request: Partial<LogRequest> = {}): Promise<string> => {
    const full = { log, since: undefined, signal, timeoutMs: 20_000, ...request };
    try {
      (await openLog(client, full)).destroy();
      return 'opened';
    } catch (error) {
      return error instanceof LogReadError ? error.kind : String(error);
    }
  };

  it('sends the parameters of the request', async () => {
    cluster.add('shop', 'a', [at(1)]);
    expect(await open()).to.equal('opened');
    const whole = { log: { ...log, previous: true }, since: at(2, '', '900000000').time };
    await open({ ...whole, follow: true, limitBytes: 3, tailLines: 4 });
    const [first, second] = cluster.requests.map(({ searchParams }) => Object.fromEntries(searchParams));
    const always = { container: 'app', timestamps: 'true' };
    expect(first).to.deep.equal(always);
    expect(second).to.deep.equal({
      ...always,
      previous: 'true',
      follow: 'true',
      sinceTime: '2026-01-01T00:00:02Z',
      limitBytes: '3',
      tailLines: '4',
    });
  });

  for (const [code, message, kind] of [
    [204, '', 'empty'],
    [400, 'container "app" in pod "a" is waiting to start: ContainerCreating', 'empty'],
    [400, 'previous terminated container "app" in pod "a" not found', 'empty'],
    [400, 'unable to retrieve container logs for containerd://1', 'gone'],
    [401, 'Unauthorized', 'forbidden'],
    [403, 'pods "a" is forbidden', 'forbidden'],
    [404, 'pods "a" is gone', 'gone'],
    [500, 'internal error', 'failed'],
  ] as const) {
    it(`classifies ${code} ${message} as ${kind}`, async () => {
      cluster.disturb = (_, response) => {
        response.writeHead(code).end(code === 204 ? '' : status(code, 'Reason', message));
        return true;
      };
      expect(await open()).to.equal(kind);
      expect(cluster.requests).to.have.length(1);
    });
  }

  it('is silent without a response, and unreachable without a connection', async () => {
    cluster.disturb = () => true;
    expect(await open({ timeoutMs: 20 })).to.equal('silent');
    await cluster.goAway();
    expect(await open()).to.equal('unreachable');
  });

  it('rejects with the reason of the signal', async () => {
    const left = new AbortController();
    cluster.disturb = () => {
      left.abort(new Error('left'));
      return true;
    };
    expect(await open({ signal: left.signal })).to.equal('Error: left');
  });
});

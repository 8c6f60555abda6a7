// Tests of requests to the pod log API.
import { expect } from 'chai';
import { openLog } from '../../../../../../server/logging/backends/kubernetes/log-request.ts';
import { status } from '../../../../../support/cluster/scripted-cluster.ts';
import { rejection } from '../../../../../support/rejection.ts';
import { LogCluster } from './log-cluster.ts';

const log = { namespace: 'shop', pod: 'a', container: 'app', previous: false };

describe('an error response to a pod log request', () => {
  let cluster: LogCluster;

  before(async () => {
    cluster = await new LogCluster().start();
  });

  after(() => cluster.stop());

  it('is classified', async () => {
    const request = { log, since: undefined, signal: new AbortController().signal, timeoutMs: 20_000 };
    for (const [code, message, kind] of [
      [204, '', 'empty'],
      [400, 'container "app" in pod "a" is waiting to start: ContainerCreating', 'empty'],
      [400, 'previous terminated container "app" in pod "a" not found', 'empty'],
      [400, 'unable to retrieve container logs for containerd://1', 'gone'],
      [401, 'Unauthorized', 'forbidden'],
      [403, 'pods "a" is forbidden', 'forbidden'],
      [404, 'pods "a" is deleted', 'gone'],
      [500, 'internal error', 'failed'],
    ] as const) {
      cluster.disturb = (_, response) => {
        response.writeHead(code).end(code === 204 ? '' : status(code, 'Reason', message));
        return true;
      };
      expect(await rejection(openLog(cluster.connect(), request)), message).to.include({ kind });
    }
  });
});

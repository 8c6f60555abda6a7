// Tests of the health check of the pod log store.
import { expect } from 'chai';
import pino from 'pino';
import type { ClusterClient } from '../../../../../../server/cluster/connection/client.ts';
import { KubernetesLogStore } from '../../../../../../server/logging/backends/kubernetes/kubernetes-log-store.ts';

/** A request to kube-apiserver that never gets a response. */
function silent({ signal }: { readonly signal?: AbortSignal }): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  return promise;
}

describe('the health check of the pod log store', () => {
  const client: ClusterClient = { open: silent, json: silent };
  const limits = {
    maxContainers: 1,
    concurrentReads: 1,
    followedLogs: 1,
    bytesPerContainer: 1 << 20,
    memory: 1 << 20,
  };
  const store = new KubernetesLogStore({ client, log: pino({ enabled: false }), limits });
  const nameOf = (failure: unknown): unknown => (failure instanceof Error ? failure.name : failure);

  it('ends at its time limit, and when the caller leaves', async () => {
    const left = new AbortController();
    const late = await store.check({ signal: left.signal, timeoutMs: 5 }).catch(nameOf);
    expect(late).to.equal('TimeoutError');
    const check = store.check({ signal: left.signal, timeoutMs: 3_600_000 }).catch(nameOf);
    left.abort();
    expect(await check).to.equal('AbortError');
  });
});

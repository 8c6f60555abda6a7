// Tests of the metrics of the listeners.
import { once } from 'node:events';
import { expect } from 'chai';
import { MAX_HEADER_FIELDS } from '../../../../server/listener/malformed-request.ts';
import { createRegistry } from '../../../../server/observability/metrics.ts';
import {
  issuedInMemory,
  listenInsecure,
  listenSecure,
  open,
  readAll,
  stopListenersEach,
} from './listening.ts';

describe('listener metrics', () => {
  const registry = createRegistry();
  /** The values of a metric by labels, without values of 0. */
  async function counted(name: string): Promise<Record<string, number>> {
    const metrics = await registry.getMetricsAsJSON();
    const values = metrics.find((metric) => metric.name === name)?.values ?? [];
    return Object.fromEntries(
      values
        .filter(({ value }) => value !== 0)
        .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    );
  }

  beforeEach(() => registry.clear());
  stopListenersEach();

  it('count connections closed because of the limit', async () => {
    const on = await listenInsecure({ registry, limits: { connections: 1 } });
    const first = await open(on);
    first.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(first, 'data');
    await readAll(await open(on));
    expect(await counted('apiserver_dropped_connections_total')).to.deep.equal({ insecure: 1 });
    first.destroy();
  });

  it('count malformed requests by status code', async () => {
    const on = await listenInsecure({ registry, limits: { headers: 8192 } });
    const fields = 'X: y\r\n'.repeat(MAX_HEADER_FIELDS);
    for (const bytes of [
      'nonsense\r\n\r\n',
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-Filler: ${'x'.repeat(100_000)}\r\n\r\n`,
      `GET /livez HTTP/1.1\r\nHost: x\r\n${fields}\r\n`,
    ]) {
      const socket = await open(on);
      socket.write(bytes);
      await readAll(socket);
    }
    expect(await counted('apiserver_malformed_requests_total')).to.deep.equal({
      'insecure 400': 1,
      'insecure 431': 2,
    });
  });

  it('count failed handshakes', async () => {
    const life = new AbortController();
    const on = await listenSecure(await issuedInMemory(life.signal), { registry });
    const socket = await open(on);
    socket.end('no client hello, that is sure\r\n\r\n');
    await readAll(socket);
    expect(await counted('apiserver_tls_handshake_errors_total')).to.deep.equal({ '': 1 });
    life.abort();
  });
});

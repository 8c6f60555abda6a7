// Tests of the filter chain with clients that do not read the response.
import { expect } from 'chai';
import { until } from '../../../support/until.ts';
import { chainEach, NODES, rawConnection } from './chain-fixture.ts';

const BODY = Buffer.alloc(16 * 1024 * 1024, 'x');

describe('a response that the client does not read', () => {
  const start = chainEach();

  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
  for (const [what, path, headers] of [
    ['', NODES, ''],
    [', also after a request to upgrade the protocol', '/metrics', upgrade],
  ] as const) {
    it(`is discarded with its connection at the deadline${what}`, async () => {
      const chain = await start({
        limits: { maxBodyBytes: 1000, timeoutMs: 100 },
        handler: ({ response }) => void response.end(BODY),
      });
      const socket = await rawConnection(chain);
      socket.pause();
      socket.on('error', () => undefined);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nTest-User: alice\r\n${headers}\r\n`);
      await until(() => chain.observed.length === 1);
      expect(chain.chain.open).to.equal(0);
      socket.destroy();
    });
  }
});

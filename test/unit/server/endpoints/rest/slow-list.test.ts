// Tests of the verb list with a slow client.
import { once } from 'node:events';
import { expect } from 'chai';
import { resourceHandler } from '../../../../../server/endpoints/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes';

describe('list with a slow client', () => {
  const cache = new NodeCache();
  const queued: (() => number)[] = [];
  let server: HandlerServer;

  before(async () => {
    const filler = 'x'.repeat(8000);
    cache.fill(
      9000,
      Array.from({ length: 2000 }, (_, i) => node(`n${String(i).padStart(4, '0')}`, i + 1, {}, { filler })),
    );
    const handler = resourceHandler(nodes, cache.cache);
    server = await new HandlerServer((context) => {
      queued.push(() => context.response.writableLength);
      return handler(context);
    }).start();
  });

  after(() => server.close());

  for (const query of ['', '?pretty=1']) {
    it(`pauses while the client does not read, and continues when it does: ${query}`, async () => {
      queued.length = 0;
      const incoming = await server.open(LIST + query);
      // A complete other response fits in between; the first body is 16 MB.
      await server.ask(`${LIST}/n0001`);
      expect(queued[0]?.()).to.be.lessThan(3 << 20);
      let length = 0;
      incoming.on('data', (chunk: Buffer) => {
        length += chunk.length;
      });
      await once(incoming, 'end');
      expect(length).to.be.greaterThan(16_000_000);
    });
  }
});

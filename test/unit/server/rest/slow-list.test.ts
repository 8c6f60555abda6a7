// Tests of the verb list with a slow client.
import { once } from 'node:events';
import { expect } from 'chai';
import { resourceHandler } from '../../../../server/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { servedHandler } from '../../../support/handler-server.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes';

describe('list with a slow client', () => {
  const cache = new NodeCache();
  const queued: (() => number)[] = [];
  const handler = resourceHandler(nodes, cache.cache);
  const server = servedHandler((context) => {
    queued.push(() => context.response.writableLength);
    return handler(context);
  });

  before(() => {
    const filler = 'x'.repeat(8000);
    const many = Array.from({ length: 2000 }, (_, i) => node(`n${i}`, i + 1, {}, { filler }));
    cache.fill(9000, many);
  });

  for (const query of ['', '?pretty=1']) {
    it(`pauses while the client does not read, and continues when it does: ${query}`, async () => {
      queued.length = 0;
      const incoming = await server.open(LIST + query);
      // A complete other response fits in between; the first body is 16 MB.
      await server.ask(`${LIST}/n1`);
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

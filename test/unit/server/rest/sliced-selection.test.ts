// Tests that lists and watches with selectors give the event loop back while they test the objects.
import { expect } from 'chai';
import { TimeSlicer } from '../../../../server/concurrency/time-slicer.ts';
import { DEFAULT_OPTIONS, resourceHandler } from '../../../../server/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { WorkPerTurn } from '../../../support/work-per-turn.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes?fieldSelector=tested%3Dyes';

describe('a selector that selects no object', () => {
  it('gives the event loop back after each time slice, in lists and in the first events of watches', async () => {
    const work = new WorkPerTurn();
    const tested = (): string => work.note() ?? 'no';
    const definition = { ...nodes, fields: { ...nodes.fields, tested } };
    const cache = new NodeCache();
    cache.fill(
      300,
      Array.from({ length: 300 }, (_, i) => node(`n${i}`, i + 1)),
    );
    const options = { ...DEFAULT_OPTIONS, slicer: new TimeSlicer(0) };
    await using server = await new HandlerServer(resourceHandler(definition, cache.cache, options)).start();
    for (const more of ['', '&limit=1', '&watch=1&timeoutSeconds=1']) {
      const { status } = await server.ask(`${LIST}${more}`);
      expect(status).to.equal(200);
    }
    expect(work.most).to.equal(1);
  });
});

// Tests of watches with Table or PartialObjectMetadata responses.
import { expect } from 'chai';
import { array, record } from '../../../../../apis/reading/unknown-value.ts';
import { resourceHandler } from '../../../../../server/endpoints/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../../support/cluster/node-cache.ts';
import { type SeenEvent, WatchLines } from '../../../../support/cluster/watch-lines.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const WATCH = '/apis/resources.platform.io/v1alpha3/nodes?watch=true';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const rowOf = (event: SeenEvent | undefined) => record(array(event?.object['rows'])[0]);
const hasColumns = (event: SeenEvent | undefined) => array(event?.object['columnDefinitions']).length > 0;

describe('watch with tables or partial metadata', () => {
  let cache: NodeCache;
  let server: HandlerServer;
  const open: WatchLines[] = [];

  async function watch(query: string, accept = TABLE): Promise<WatchLines> {
    const lines = new WatchLines(await server.open(WATCH + query, { headers: { Accept: accept } }));
    open.push(lines);
    return lines;
  }

  beforeEach(async () => {
    cache = new NodeCache();
    cache.fill(10, [node('a', 1, { zone: 'x' }), node('b', 2, { zone: 'y' })]);
    server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
  });

  afterEach(async () => {
    for (const lines of open.splice(0)) lines.close();
    await server.close();
  });

  it('sends column definitions in the first event only', async () => {
    const early = await watch('&resourceVersion=10');
    cache.apply('MODIFIED', node('a', 11));
    expect(hasColumns(await early.next())).to.equal(true);
    const late = await watch('&resourceVersion=11');
    for (const [version, columns] of [
      [12, true],
      [13, false],
    ] as const) {
      cache.apply('MODIFIED', node('a', version));
      const [one, two] = [await early.next(), await late.next()];
      expect([hasColumns(one), hasColumns(two)]).to.deep.equal([false, columns]);
      for (const seen of [one, two]) {
        expect(record(seen?.object['metadata'])['resourceVersion']).to.equal(String(version));
      }
    }
  });

  it('sends each watcher its own representation and event type', async () => {
    const watches = await Promise.all([
      ...['', '&labelSelector=zone%3Dx', '&includeObject=None'].map((query) =>
        watch(`&resourceVersion=10${query}`),
      ),
      watch('&resourceVersion=10', TABLE.replace('v=v1', 'v=v1beta1')),
    ]);
    const next = (): Promise<(SeenEvent | undefined)[]> => Promise.all(watches.map((lines) => lines.next()));
    cache.apply('MODIFIED', node('a', 11, { zone: 'x' }));
    await next();
    cache.apply('MODIFIED', node('a', 12, { zone: 'z' }));
    const leaving = await next();
    expect(leaving.map((seen) => seen?.type)).to.deep.equal(['MODIFIED', 'DELETED', 'MODIFIED', 'MODIFIED']);
    cache.apply('MODIFIED', node('a', 13, { zone: 'x' }));
    const entering = await next();
    expect(entering.map((seen) => seen?.type)).to.deep.equal(['MODIFIED', 'ADDED', 'MODIFIED', 'MODIFIED']);
    for (const seen of [leaving, entering]) {
      expect(seen.map((one) => one?.object['apiVersion'])).to.deep.equal([
        ...Array<string>(3).fill('meta.k8s.io/v1'),
        'meta.k8s.io/v1beta1',
      ]);
      expect(rowOf(seen[2])['object']).to.equal(null);
    }
    const { labels, resourceVersion } = record(record(rowOf(leaving[1])['object'])['metadata']);
    expect({ labels, resourceVersion }).to.deep.equal({ labels: { zone: 'x' }, resourceVersion: '12' });
  });

  for (const include of ['None', 'Metadata', 'Object']) {
    it(`marks the end of the initial events in a table with includeObject=${include}`, async () => {
      const lines = await watch(
        `&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=${include}`,
      );
      expect(hasColumns(await lines.next())).to.equal(true);
      expect(hasColumns(await lines.next())).to.equal(false);
      const end = await lines.next();
      expect(end?.type).to.equal('BOOKMARK');
      const object = record(rowOf(end)['object']);
      expect(object['kind']).to.equal(include === 'Object' ? 'Node' : 'PartialObjectMetadata');
      expect(object['metadata']).to.deep.equal({
        resourceVersion: '10',
        annotations: { 'k8s.io/initial-events-end': 'true' },
      });
    });
  }
});

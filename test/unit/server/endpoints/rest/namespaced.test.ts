// Tests of the REST handlers with a namespaced resource.
import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { EVERY_LABEL } from '../../../../../apis/meta/v1/label-selector.ts';
import { array, record } from '../../../../../apis/reading/unknown-value.ts';
import { InformerCache } from '../../../../../server/cache/informer-cache.ts';
import type { CachedObject } from '../../../../../server/cache/resource-cache.ts';
import { resourceHandler } from '../../../../../server/endpoints/rest/resource-handler.ts';
import type { ResourceDefinition } from '../../../../../server/resources/resource-definition.ts';
import { Selection } from '../../../../../server/resources/selection.ts';
import { WatchLines } from '../../../../support/cluster/watch-lines.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const things: ResourceDefinition<null> = {
  group: 'things.platform.io',
  version: 'v1',
  kind: 'Thing',
  listKind: 'ThingList',
  plural: 'things',
  singular: 'thing',
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  source: { path: '/apis/things.example.com/v1/things', apiVersion: 'things.example.com/v1', kind: 'Thing' },
  facts: () => null,
  fields: {},
  columns: [],
};
const BASE = '/apis/things.platform.io/v1';

describe('a namespaced resource', () => {
  const cache = new InformerCache({
    definition: things,
    log: { info: () => undefined, warn: () => undefined },
    window: { events: 100, ageMs: 60_000, bytes: 1 << 20 },
    history: { snapshots: 10, ageMs: 60_000, bytes: 1 << 20 },
    probe: () => Promise.resolve(),
    waitMs: 50,
    now: () => performance.now(),
  });
  let server: HandlerServer;

  function thing(namespace: string, name: string, resourceVersion: number): Buffer {
    const metadata = { name, namespace, resourceVersion: String(resourceVersion) };
    return Buffer.from(JSON.stringify({ metadata, kind: 'Thing', apiVersion: 'things.example.com/v1' }));
  }

  async function keys(path: string): Promise<string[]> {
    return array((await server.json(path))['items']).map((item) => {
      const { namespace, name } = record(record(item)['metadata']);
      return `${String(namespace)}/${String(name)}`;
    });
  }

  before(async () => {
    server = await new HandlerServer(resourceHandler(things, cache)).start();
    const replacement = cache.replacement();
    for (const [index, key] of ['a/x', 'a/y', 'a-b/x', 'b/x'].entries()) {
      const [namespace = '', name = ''] = key.split('/');
      replacement.add(thing(namespace, name, index + 1));
    }
    replacement.commit('10');
  });

  after(() => server.close());

  it('pages within a namespace, with its own count', async () => {
    const page = await server.json(`${BASE}/namespaces/a/things?limit=1`);
    expect(record(page['metadata'])).to.include({ remainingItemCount: 1 });
    const token = String(record(page['metadata'])['continue']);
    expect(await keys(`${BASE}/namespaces/a/things?continue=${token}`)).to.deep.equal(['a/y']);
  });

  it('lists and watches a namespace without reading the objects of others', async () => {
    const own = { fieldSelector: [], labelSelector: EVERY_LABEL };
    const read: string[] = [];
    const snapshot = {
      *objects(after?: string): Iterable<CachedObject<null>> {
        for (const object of cache.snapshot().objects(after)) {
          read.push(object.key);
          yield object;
        }
      },
    };
    expect([...new Selection(things, own, 'a').in(snapshot)].map(({ key }) => key)).to.deep.equal([
      'a/x',
      'a/y',
    ]);
    expect([...new Selection(things, own, 'b').in(snapshot, 'a/x')].map(({ key }) => key)).to.deep.equal([
      'b/x',
    ]);
    expect(read).to.deep.equal(['a/x', 'a/y', 'b/x', 'b/x']);
  });

  it('watches one namespace', async () => {
    const lines = new WatchLines(await server.open(`${BASE}/namespaces/b/things?watch=1&resourceVersion=10`));
    cache.apply('ADDED', thing('a', 'z', 11));
    cache.apply('ADDED', thing('b', 'z', 12));
    expect(await lines.names(1)).to.deep.equal(['ADDED z@12']);
    lines.close();
  });
});

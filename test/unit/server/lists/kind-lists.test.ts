// Tests of lists of nodes under `/kapis`, without a cluster.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { PODS } from '../../../../server/resources/kind.ts';
import { NodeCache, node, type PlainNode } from '../../../support/cluster/node-cache.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';
import { KindCache, plain } from '../../../support/platform/kind-cache.ts';
import { PLATFORM_PATH, platformLists, platformNodes } from '../../../support/platform/platform-lists.ts';

const PATH = '/kapis/resources.platform.io/v1alpha3/nodes';

const NODES: readonly PlainNode[] = [
  node('alpha', 1, { zone: 'a' }),
  node('beta', 2, { zone: 'b' }),
  node('gamma', 3, { zone: 'a' }),
];

describe('the platform lists of nodes', () => {
  const cache = new NodeCache();
  const server = servedHandler(platformNodes({ cache: cache.cache }));

  beforeEach(() => cache.fill(1000, NODES));

  it('returns the headers of GET for HEAD', async () => {
    for (const path of [PATH, `${PATH}/alpha`]) {
      const get = await server.ask(path);
      const head = await server.ask(path, { method: 'HEAD' });
      expect(head.status).to.equal(200);
      expect(head.body).to.have.length(0);
      for (const name of ['content-type', 'content-length', 'etag', 'vary', 'cache-control'] as const) {
        expect(head.headers[name], name).to.equal(get.headers[name]).and.not.equal(undefined);
      }
    }
  });

  it('compresses a long list for clients that accept gzip', async () => {
    const many = Array.from({ length: 500 }, (_, i) =>
      node(`node-${i}`, i + 1, {}, { note: `${i} `.repeat(300) }),
    );
    cache.fill(2000, many);
    const gzip = await server.ask(PATH, { headers: { 'accept-encoding': 'gzip' } });
    expect(gzip.headers['content-encoding']).to.equal('gzip');
    expect(gunzipSync(gzip.body).toString()).to.equal((await server.ask(PATH)).body.toString());
  });

  it('distinguishes the orders of more nodes than a tag lists', async () => {
    const small = Array.from({ length: 600 }, (_, i) => node(`node-${i}`, i + 1));
    cache.fill(2000, small);
    const [up, down] = await Promise.all([
      server.ask(`${PATH}?sortBy=name&ascending=true`),
      server.ask(`${PATH}?sortBy=name`),
    ]);
    expect(up.headers.etag).to.not.equal(down.headers.etag);
  });

  describe('with If-None-Match', () => {
    async function again(path: string, etag: string): Promise<number> {
      const { status, body, headers } = await server.ask(path, { headers: { 'if-none-match': etag } });
      if (status === 304) expect(body).to.have.length(0);
      if (status === 304) expect(headers.etag).to.equal(etag);
      return status;
    }

    async function tag(path: string): Promise<string> {
      const { headers } = await server.ask(path);
      expect(headers.etag).to.match(/^W\/"[^"]+"$/);
      return headers.etag ?? '';
    }

    it('returns 304 until a node of the page changes', async () => {
      const page = `${PATH}?labelSelector=zone%3Da`;
      const etag = await tag(page);
      expect(await again(page, etag)).to.equal(304);
      cache.cache.bookmark('1500');
      cache.apply('MODIFIED', node('beta', 1501, { zone: 'b' }));
      expect(await again(page, etag)).to.equal(304);
      cache.apply('MODIFIED', node('gamma', 1502, { zone: 'a' }));
      expect(await again(page, etag)).to.equal(200);
    });

    it('detects a new or deleted node on another page', async () => {
      const page = `${PATH}?limit=1`;
      const etag = await tag(page);
      cache.apply('DELETED', node('beta', 1501));
      expect(await again(page, etag)).to.equal(200);
    });

    it('detects different content with equal resourceVersions, as after a restore of etcd', async () => {
      const of = (state: string, count: number) =>
        Array.from({ length: count }, (_, i) => node(`node-${i}`, i + 1, { zone: state }));
      for (const [path, count] of [
        [`${PATH}/node-5`, 9],
        [PATH, 9],
        [PATH, 700],
      ] as const) {
        cache.fill(2000, of('a', count));
        const etag = await tag(path);
        cache.fill(2000, of('b', count));
        expect(await again(path, etag), `${path}, ${count} nodes`).to.equal(200);
        expect((await server.ask(`${PATH}?label=zone%3Da`)).body.toString()).to.include('"totalItems":0');
        cache.fill(2000, of('a', count));
        expect(await again(path, etag), `${path}, ${count} nodes`).to.equal(304);
      }
    });

    it('has equal tags on all replicas', async () => {
      const one = (i: number, version: number) => node(`node-${String(i).padStart(3, '0')}`, version);
      const listed = Array.from({ length: 700 }, (_, i) => one(i, i < 600 ? i + 1 : 1000 + i));
      cache.fill(3000, listed);
      const tags = async () => Promise.all([PATH, `${PATH}?limit=5`, `${PATH}/node-003`].map(tag));
      const fromList = await tags();
      const many = Array.from({ length: 600 }, (_, i) => one(i, i + 1));
      cache.fill(1000, many);
      for (let i = 600; i < 700; i++) cache.apply('ADDED', one(i, 1000 + i));
      cache.apply('ADDED', one(999, 2000));
      cache.apply('DELETED', one(999, 2001));
      expect(await tags()).to.deep.equal(fromList);
    });

    it('still rejects an invalid query', async () => {
      expect(await again(`${PATH}?page=0`, '*')).to.equal(400);
    });
  });
});

describe('platform lists with computed annotations', () => {
  it('changes the entity tags of node, page and list with the annotations', async () => {
    const cache = new NodeCache();
    const many = Array.from({ length: 600 }, (_, i) => node(`n${1000 + i}`, i + 1));
    cache.fill(10, many);
    let used = 1;
    const computed = () => `"node.platform.io/pods":"${used}"`;
    await using server = await new HandlerServer(platformNodes({ cache: cache.cache, computed })).start();
    for (const path of [`${PATH}/n1000`, `${PATH}?limit=10`, `${PATH}?limit=-1`]) {
      const etag = (await server.ask(path)).headers.etag ?? '';
      const again = async () => (await server.ask(path, { headers: { 'if-none-match': etag } })).status;
      expect(await again(), path).to.equal(304);
      used++;
      expect(await again(), path).to.equal(200);
    }
  });
});

describe('the platform lists of a tenant', () => {
  const PODS_PATH = `${PLATFORM_PATH}/pods`;
  let pods: KindCache;
  let readable: ReadonlySet<string>;
  const handler = platformLists(() => [pods.lists], {
    namespaces: ['bank', 'shop'],
    allowed: ({ namespace }) => readable.has(namespace),
  });
  const server = servedHandler(handler);

  const pod = (key: string, version: number, phase = 'Running') =>
    plain(key, version, { labels: { app: key } }, { status: { phase } });

  beforeEach(() => {
    readable = new Set(['shop']);
    pods = new KindCache(PODS).fill(10, [
      pod('shop/a', 1),
      pod('shop/b', 2, 'Pending'),
      pod('bank/c', 3, 'Failed'),
    ]);
  });

  /** The response without the version of the snapshot. */
  async function page(path: string) {
    const { headers, body } = await server.ask(path);
    const { metadata: _metadata, ...rest } = record(JSON.parse(body.toString()));
    return { tag: headers.etag ?? '', ...rest };
  }

  it('have other entity tags for other permissions, facets and totals', async () => {
    const one = `${PODS_PATH}?names=a`;
    const tenant = await page(one);
    readable = new Set(['']);
    const administrator = await page(one);
    expect(administrator.tag).not.to.equal(tenant.tag);
    const path = `${PODS_PATH}?limit=1&sortBy=name&ascending=true&facets=status`;
    const before = await page(path);
    // On another page, and with the same total.
    pods.apply('MODIFIED', pod('bank/c', 100, 'Pending'));
    expect((await page(path)).tag).not.to.equal(before.tag);
  });

  it('have entity tags of long lists that do not change with other namespaces', async () => {
    const many = Array.from({ length: 700 }, (_, i) => pod(`shop/pod-${i}`, i + 1));
    pods.fill(2_000, [...many, pod('bank/c', 1_000)]);
    const { tag } = await page(PODS_PATH);
    pods.apply('MODIFIED', pod('bank/c', 2_001));
    expect((await page(PODS_PATH)).tag).to.equal(tag);
    pods.apply('MODIFIED', pod('shop/pod-5', 2_002));
    expect((await page(PODS_PATH)).tag).not.to.equal(tag);
  });
});

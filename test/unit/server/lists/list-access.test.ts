// Tests of the permission checks under `/kapis`.
import { expect } from 'chai';
import { array, record, text } from '../../../../apis/reading/unknown-value.ts';
import type { ResourceAttributes } from '../../../../server/authorization/authorizer.ts';
import { NAMESPACES, PODS } from '../../../../server/resources/kind.ts';
import { NodeCache, node } from '../../../support/cluster/node-cache.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';
import { KindCache, plain } from '../../../support/platform/kind-cache.ts';
import { PLATFORM_PATH, platformLists, platformNodes } from '../../../support/platform/platform-lists.ts';

const SPACES = ['bank', 'other', 'shop'];

/** A review in short, for instance `list pods bank`. */
const short = ({ verb, group, resource, namespace, name, ...more }: ResourceAttributes): string =>
  [
    verb,
    group === '' ? resource : `${resource}.${group}`,
    namespace || '*',
    name,
    more.labelSelector,
    more.fieldSelector,
  ]
    .filter((part) => part)
    .join(' ');

describe('the permissions of platform lists', () => {
  const pods = new KindCache(PODS).fill(4, [
    plain('bank/a', 1),
    plain('other/b', 2),
    plain('shop/c', 3),
    plain('shop/d', 4),
  ]);
  const many = SPACES.map((name, i) => plain(name, i + 1));
  const namespaces = new KindCache(NAMESPACES).fill(3, many);
  let allowed: ReadonlySet<string>;
  const lists = platformLists(() => [pods.lists, namespaces.lists], {
    namespaces: SPACES,
    allowed: (attributes) => allowed.has(short(attributes)),
  });
  const server = servedHandler(lists);

  beforeEach(() => {
    allowed = new Set();
  });

  async function list(path: string): Promise<unknown> {
    const { status, body } = await server.ask(`${PLATFORM_PATH}/${path}`);
    const found = record(JSON.parse(body.toString()));
    if (status !== 200) return `${status} ${text(found['message'])}`;
    const names = array(found['items']).map((item) => text(record(record(item)['metadata'])['name']));
    return { names: names.sort(), total: found['totalItems'], partial: found['partial'] };
  }

  it('are those of the path, if the query selects further namespaces', async () => {
    allowed = new Set(['list pods shop', 'list pods bank']);
    expect(await list('namespaces/shop/pods?namespaces=bank,shop')).to.deep.include({ names: ['c', 'd'] });
    expect(await list('namespaces/shop/pods?namespace=bank')).to.deep.include({ names: [], total: 0 });
    expect(String(await list('namespaces/other/pods?namespace=bank'))).to.match(/^403/);
  });

  it('do not reveal whether a namespace exists', async () => {
    allowed = new Set(['list pods bank']);
    const denied = async (name: string) =>
      String(await list(`pods?namespaces=${name}`)).replaceAll(name, 'x');
    expect(await denied('shop')).to.equal(await denied('missing'));
    allowed = new Set(['list pods bank', 'list pods missing']);
    expect(await list('pods?namespaces=missing')).to.deep.equal({ names: [], total: 0, partial: true });
  });

  it('are checked before the query, and for one object by name', async () => {
    expect(String(await list('pods?page=0'))).to.match(/^403/);
    const get = async (path: string) => (await server.ask(`${PLATFORM_PATH}/${path}`)).status;
    expect(await get('namespaces/shop/pods/c')).to.equal(403);
    expect(await get('namespaces/shop/pods/unknown')).to.equal(403);
    allowed = new Set(['get pods shop c', 'get pods shop unknown']);
    expect(await get('namespaces/shop/pods/c')).to.equal(200);
    expect(await get('namespaces/shop/pods/unknown')).to.equal(404);
    expect(await get('namespaces/shop/pods/d')).to.equal(403);
  });

  it('are checked again after the wait for the first list of the kind', async () => {
    const [waiting, synced] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handler = platformLists(() => [pods.lists], {
      namespaces: SPACES,
      allowed: (attributes) => allowed.has(short(attributes)),
      sync: () => {
        waiting.resolve();
        return synced.promise;
      },
    });
    await using slow = await new HandlerServer(handler).start();
    allowed = new Set(['list pods shop']);
    const answer = slow.ask(`${PLATFORM_PATH}/pods`);
    await waiting.promise;
    allowed = new Set();
    synced.resolve();
    expect((await answer).status).to.equal(403);
  });
});

describe('the permissions of the list of nodes', () => {
  it('are those of the core group or of the group of the platform', async () => {
    const cache = new NodeCache();
    cache.fill(1, [node('a', 1)]);
    let allowed = new Set<string>();
    const handler = platformNodes({ cache: cache.cache, allowed: (review) => allowed.has(short(review)) });
    await using server = await new HandlerServer(handler).start();
    const statuses = async () =>
      Promise.all(
        ['nodes', 'nodes/a'].map(async (path) => (await server.ask(`${PLATFORM_PATH}/${path}`)).status),
      );
    expect(await statuses()).to.deep.equal([403, 403]);
    for (const group of ['nodes', 'nodes.resources.platform.io']) {
      allowed = new Set([`list ${group} *`, `get ${group} * a`]);
      expect(await statuses(), group).to.deep.equal([200, 200]);
    }
  });
});

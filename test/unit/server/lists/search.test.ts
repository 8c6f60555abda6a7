// Tests of the search under `/kapis`.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { NAMESPACES, PODS } from '../../../../server/resources/kind.ts';
import { servedHandler } from '../../../support/handler-server.ts';
import { KindCache, plain, WIDGETS } from '../../../support/platform/kind-cache.ts';
import { PLATFORM_PATH, platformLists } from '../../../support/platform/platform-lists.ts';

const CREATED = { creationTimestamp: '2026-01-01T00:00:00Z' };
const ALIAS = { annotations: { 'platform.io/alias-name': 'Wagen' } };

describe('Search', () => {
  const pods = new KindCache(PODS).fill(4, [
    plain('shop/my-cart', 1, { ...CREATED, ...ALIAS }, { status: { phase: 'Running' } }),
    plain('bank/discarted', 2, CREATED),
    plain('shop/other', 3, CREATED),
  ]);
  const widgets = new KindCache(WIDGETS).fill(1, [plain('shop/cart', 1, CREATED)]);
  const namespaces = new KindCache(NAMESPACES).fill(2, [plain('cart-system', 1, CREATED), plain('shop', 2)]);
  const lists = [pods, widgets, namespaces].map((cache) => cache.lists);
  let allowed: (review: string) => boolean;
  /** The plural of a kind whose lists are unavailable. */
  let unavailable: string;
  const handler = platformLists(() => lists, {
    namespaces: ['bank', 'cart-system', 'shop'],
    allowed: ({ verb, resource, namespace }) => allowed(`${verb} ${resource} ${namespace || '*'}`),
    sync: async ({ plural }) => {
      if (plural === unavailable) throw newServiceUnavailable('the list is not available', 1);
    },
  });
  const server = servedHandler(handler);

  beforeEach(() => {
    allowed = () => true;
    unavailable = '';
  });

  const search = (query: string) => server.json(`${PLATFORM_PATH}/search?${query}`);

  /** The matches by kind, for instance `pods: word my-cart`. */
  async function found(query: string): Promise<string[]> {
    return array((await search(query))['groups']).map((group) => {
      const { resource, items, partial } = record(group);
      const names = array(items).map((item) => {
        const { match, metadata } = record(item);
        return `${String(match)} ${String(record(metadata)['name'])}`;
      });
      return `${String(resource)}${partial === true ? ' (partial)' : ''}: ${names.join(', ')}`;
    });
  }

  it('returns the matches of all followed kinds, the kind with the best match first', async () => {
    expect(await found('q=CART')).to.deep.equal([
      'widgets.example.com: name cart',
      'namespaces: prefix cart-system',
      'pods: word my-cart, text discarted',
    ]);
    const { groups: _groups, ...rest } = await search('q=cart');
    expect(rest).to.deep.equal({
      kind: 'SearchResult',
      apiVersion: 'resources.platform.io/v1alpha3',
      kinds: ['pods', 'widgets.example.com', 'namespaces'],
      totalItems: 4,
    });
    expect(await found('q=nothing')).to.deep.equal([]);
  });

  it('describes each match', async () => {
    const [group] = array((await search('q=my-cart&kinds=pods'))['groups']);
    expect(group).to.deep.equal({
      resource: 'pods',
      kind: 'Pod',
      apiVersion: 'v1',
      totalItems: 1,
      items: [
        {
          match: 'name',
          metadata: {
            name: 'my-cart',
            namespace: 'shop',
            uid: 'uid-shop/my-cart',
            creationTimestamp: '2026-01-01T00:00:00Z',
            selfLink: `${PLATFORM_PATH}/namespaces/shop/pods/my-cart`,
          },
          alias: 'Wagen',
          status: 'Running',
        },
      ],
    });
  });

  it('searches the given kinds, with at most the given number of matches', async () => {
    expect(await found('q=cart&kinds=pods,namespaces&limit=1')).to.deep.equal([
      'namespaces: prefix cart-system',
      'pods: word my-cart',
    ]);
    expect(await search('q=cart&kinds=pods&limit=1')).to.deep.include({ totalItems: 2, kinds: ['pods'] });
  });

  it('omits an unavailable kind, unless the query names it', async () => {
    unavailable = 'widgets';
    expect(await found('q=cart&kinds=pods')).to.deep.equal(['pods: word my-cart, text discarted']);
    expect(await search('q=cart')).to.deep.include({ totalItems: 3, kinds: ['pods', 'namespaces'] });
    expect((await server.ask(`${PLATFORM_PATH}/search?q=cart&kinds=pods,widgets`)).status).to.equal(503);
  });

  it('rejects invalid queries with all errors', async () => {
    const status = async (query: string) => (await server.ask(`${PLATFORM_PATH}/search?${query}`)).status;
    for (const query of ['', 'q=', 'q=a&limit=0', 'q=a&limit=101', 'q=a&page=1', `q=${'a'.repeat(257)}`]) {
      expect(await status(query), query).to.equal(400);
    }
    const { message } = await search('q=a&kinds=gadgets,pods,gizmos');
    expect(message).to.include('"gadgets"').and.include('"gizmos"').and.not.include('"pods"');
  });
});

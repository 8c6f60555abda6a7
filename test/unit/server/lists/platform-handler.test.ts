// Tests of the HTTP handler of lists and objects under `/kapis`.
import { expect } from 'chai';
import { array, record, text } from '../../../../apis/reading/unknown-value.ts';
import { NAMESPACES, PODS } from '../../../../server/resources/kind.ts';
import { servedHandler } from '../../../support/handler-server.ts';
import { KindCache, plain, WIDGETS } from '../../../support/platform/kind-cache.ts';
import { PLATFORM_PATH, platformLists } from '../../../support/platform/platform-lists.ts';

describe('platformHandler', () => {
  const pods = new KindCache(PODS).fill(1, [plain('shop/cart', 1)]);
  const namespaces = new KindCache(NAMESPACES).fill(1, [plain('shop', 1)]);
  const widgets = new KindCache(WIDGETS).fill(1, [plain('shop/w', 1)]);
  const lists = [pods, namespaces, widgets].map((cache) => cache.lists);
  const server = servedHandler(platformLists(() => lists));

  async function ask(path: string, options = {}): Promise<string> {
    const { status, body } = await server.ask(`${PLATFORM_PATH}/${path}`, options);
    const { kind, message } = record(JSON.parse(body.toString()));
    return status === 200 ? text(kind) : `${status} ${text(message)}`;
  }

  it('rejects paths that do not fit the kind', async () => {
    expect(await ask('gadgets')).to.match(/^404 /);
    expect(await ask('pods/cart')).to.equal('400 pods are namespaced: use namespaces/NAMESPACE/pods/cart');
    expect(await ask('namespaces/shop/namespaces')).to.equal(
      '404 namespaces are not namespaced: use namespaces',
    );
    expect(await ask('namespaces/shop/namespaces/a')).to.equal(
      '404 namespaces are not namespaced: use namespaces/a',
    );
    expect(await ask('namespaces/shop/pods/cart/log')).to.match(/^404 /);
    expect(await ask('namespaces/shop/search')).to.match(/^404 /);
    expect(await ask('pods?namespaces=')).to.equal('PodList');
    expect(await ask('namespaces?namespaces=shop')).to.match(/^400 .*are not namespaced/);
  });

  it('names the invalid parameter in details.causes', async () => {
    for (const [query, field, reason] of [
      ['search', 'q', 'FieldValueRequired'],
      ['search?q=cart&kinds=gadgets', 'kinds', 'FieldValueInvalid'],
      ['namespaces?namespaces=shop', 'namespaces', 'FieldValueInvalid'],
      ['namespaces?namespace=shop', 'namespace', 'FieldValueInvalid'],
      ['pods?podIP=1&podIP=2', 'podIP', 'FieldValueDuplicate'],
      ['pods?limit=x', 'limit', 'FieldValueInvalid'],
    ] as const) {
      const { status, body } = await server.ask(`${PLATFORM_PATH}/${query}`);
      const { message, details } = record(JSON.parse(body.toString()));
      const [cause] = array(record(details)['causes']).map(record);
      expect({ status, field: cause?.['field'], reason: cause?.['reason'] }, query).to.deep.equal({
        status: 400,
        field,
        reason,
      });
      expect(message, query).to.equal(`the query is not valid: ${field}: ${text(cause?.['message'])}`);
    }
  });

  it('rejects other methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of ['pods', 'namespaces/shop/pods/cart', 'search']) {
        const { status, headers } = await server.ask(`${PLATFORM_PATH}/${path}`, { method });
        expect([status, headers.allow], `${method} ${path}`).to.deep.equal([405, 'GET, HEAD']);
      }
    }
  });

  it('serves clients that accept JSON', async () => {
    const accepted = (accept: string) => ask('pods', { headers: { accept } });
    expect(await accepted('application/json')).to.equal('PodList');
    expect(await accepted('text/html, application/json;q=0.9')).to.equal('PodList');
    expect(await accepted('text/html')).to.match(/^406 /);
    expect(await accepted('application/vnd.kubernetes.protobuf')).to.match(/^406 /);
    // Only lists are available as events.
    const headers = { accept: 'text/event-stream' };
    for (const path of ['namespaces/shop/pods/cart', 'namespaces/shop', 'search?q=cart']) {
      expect(await ask(path, { headers }), path).to.match(/^406 /);
    }
  });
});

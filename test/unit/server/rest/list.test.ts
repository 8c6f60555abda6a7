// Tests of the verb list.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { array, record } from '../../../../apis/reading/unknown-value.ts';
import { GZIP_THRESHOLD } from '../../../../server/http/response-writer.ts';
import { resourceHandler } from '../../../../server/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../support/cluster/node-cache.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes';

function names(list: Readonly<Record<string, unknown>>): string[] {
  return array(list['items']).map((item) => String(record(record(item)['metadata'])['name']));
}

describe('list', () => {
  const cache = new NodeCache();
  const server = servedHandler(resourceHandler(nodes, cache.cache));
  cache.fill(100, [
    node('a', 1, { zone: 'x' }),
    node('b', 2, { zone: 'y' }),
    node('c', 3, { zone: 'x' }),
    node('d', 4, { zone: 'x' }),
  ]);

  it('returns neither remainingItemCount nor an empty page with a selector', async () => {
    const first = await server.json(`${LIST}?limit=2&labelSelector=zone%3Dx`);
    const { continue: token, ...meta } = record(first['metadata']);
    expect(meta).to.deep.equal({ resourceVersion: '100' });
    const second = await server.json(`${LIST}?limit=1&labelSelector=zone%3Dx&continue=${String(token)}`);
    expect(names(second)).to.deep.equal(['d']);
    expect(second['metadata']).to.deep.equal({ resourceVersion: '100' });
  });

  it('continues pages from the first snapshot, and returns 410 with a new token after it expired', async () => {
    const own = new NodeCache();
    await using handler = await new HandlerServer(resourceHandler(nodes, own.cache)).start();
    own.fill(10, [node('a', 1), node('b', 2), node('c', 3)]);
    const token = String(record((await handler.json(`${LIST}?limit=1`))['metadata'])['continue']);
    own.apply('DELETED', node('b', 11));
    expect(names(await handler.json(`${LIST}?continue=${token}`))).to.deep.equal(['b', 'c']);
    own.fill(20, [node('a', 1)]);
    const gone = await handler.json(`${LIST}?continue=${token}`);
    expect(gone).to.include({ code: 410, reason: 'Expired' });
    expect(gone['message']).to.match(/^The provided continue parameter is too old/);
    const onward = String(record(gone['metadata'])['continue']);
    own.apply('ADDED', node('d', 21));
    const rest = await handler.json(`${LIST}?continue=${onward}`);
    expect(names(rest)).to.deep.equal(['d']);
    expect(rest['metadata']).to.deep.equal({ resourceVersion: '21' });
  });

  for (const [query, message] of [
    ['fieldSelector=constructor%3Da', 'field label not supported: constructor'],
    [
      `labelSelector=${Array.from({ length: 1001 }, (_, i) => `k${i}`).join(',')}`,
      'a selector may have at most 1000 requirements',
    ],
  ] as const) {
    it(`returns 400 for ?${query.slice(0, 80)}`, async () => {
      expect(await server.json(`${LIST}?${query}`)).to.include({ code: 400, message });
    });
  }

  for (const query of ['/a', '', '?limit=1', '?watch=true', '/a?pretty=true']) {
    it(`serves HEAD of ${query || 'the list'} with the headers of GET and no body`, async () => {
      const got = await server.open(LIST + query);
      got.destroy();
      const head = await server.ask(LIST + query, { method: 'HEAD' });
      const { date: _, 'transfer-encoding': chunked, ...headers } = got.headers;
      expect([head.status, head.body.length]).to.deep.equal([200, 0]);
      expect({ ...head.headers, ...(chunked ? { 'transfer-encoding': chunked } : {}) }).to.include(headers);
    });
  }

  it('returns 405 with Allow for other methods, and 404 for other paths', async () => {
    for (const method of ['POST', 'DELETE', 'OPTIONS']) {
      const answer = await server.ask(LIST, { method });
      expect(answer.status, method).to.equal(405);
      expect(answer.headers['allow'], method).to.equal('GET, HEAD');
    }
    expect((await server.ask(`${LIST}/a/status`)).status).to.equal(404);
    expect(
      (await server.ask('/apis/resources.platform.io/v1alpha3/namespaces/default/nodes')).status,
    ).to.equal(404);
  });
});

describe('list of many objects', () => {
  const cache = new NodeCache();
  const server = servedHandler(resourceHandler(nodes, cache.cache));
  const filler = 'x'.repeat(2000);
  const many = Array.from({ length: 500 }, (_, i) =>
    node(`n${i}`, i + 1, { odd: String(i % 2) }, { filler }),
  );

  before(() => cache.fill(9000, many));

  const gzip = { headers: { 'Accept-Encoding': 'gzip' } };

  it('compresses the same bytes into one gzip member', async () => {
    const plain = await server.ask(LIST);
    const packed = await server.ask(LIST, gzip);
    expect(packed.headers['content-encoding']).to.equal('gzip');
    expect(plain.headers['content-encoding']).to.equal(undefined);
    expect(plain.headers['content-length']).to.equal(String(plain.body.length));
    expect(packed.body.length).to.be.lessThan(plain.body.length / 5);
    expect(gunzipSync(packed.body).equals(plain.body)).to.equal(true);
    expect(names(record(JSON.parse(plain.body.toString())))).to.have.length(500);
  });

  it('returns the same list in every encoding', async () => {
    const items = array((await server.json(LIST))['items']);
    const pretty = (await server.ask(`${LIST}?pretty=true`)).body;
    expect(record(JSON.parse(pretty.toString()))['items']).to.deep.equal(items);
    const accepting = await server.ask(LIST, { headers: { Accept: 'application/json;pretty=1' } });
    expect(accepting.body.equals(pretty)).to.equal(true);
    expect((await server.json(`${LIST}?limit=400`))['items']).to.deep.equal(items.slice(0, 400));
    const odd = items.filter((item) => /[13579]$/.test(String(record(record(item)['metadata'])['name'])));
    expect((await server.json(`${LIST}?labelSelector=odd%3D1`))['items']).to.deep.equal(odd);
  });

  it('compresses selections and pages too', async () => {
    for (const query of ['?labelSelector=odd%3D1', '?limit=400', '?pretty=true']) {
      const plain = await server.ask(LIST + query);
      const packed = await server.ask(LIST + query, gzip);
      expect(packed.headers['content-encoding'], query).to.equal('gzip');
      expect(gunzipSync(packed.body).equals(plain.body), query).to.equal(true);
    }
  });

  it('does not compress small bodies or for clients without gzip', async () => {
    expect((await server.ask(`${LIST}?limit=2`, gzip)).headers['content-encoding']).to.equal(undefined);
    const refused = await server.ask(LIST, { headers: { 'Accept-Encoding': 'gzip;q=0, identity' } });
    expect(refused.headers['content-encoding']).to.equal(undefined);
  });

  it('is complete for any object size', async () => {
    const own = new NodeCache();
    await using handler = await new HandlerServer(resourceHandler(nodes, own.cache)).start();
    const list = async (filler: string): Promise<string> => {
      own.fill(10, [node('a', 1, { zone: 'x' }, { filler }), node('b', 2, { zone: 'x' })]);
      return (await handler.ask(`${LIST}?labelSelector=zone`)).body.toString();
    };
    const second = ',{"metadata":{"name":"b"';
    const end = (await list('')).indexOf(second);
    for (const surplus of [-1, 0, 1]) {
      const body = await list('x'.repeat(GZIP_THRESHOLD + surplus - end));
      expect(body.indexOf(second)).to.equal(GZIP_THRESHOLD + surplus);
      expect(names(record(JSON.parse(body)))).to.deep.equal(['a', 'b']);
    }
  });
});

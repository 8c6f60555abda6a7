// Tests of the verb list.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { array, record } from '../../../../../apis/reading/unknown-value.ts';
import { GZIP_THRESHOLD } from '../../../../../server/endpoints/response.ts';
import { resourceHandler } from '../../../../../server/endpoints/rest/resource-handler.ts';
import { NodeCache, node, nodes } from '../../../../support/cluster/node-cache.ts';
import { HandlerServer } from '../../../../support/handler-server.ts';

const LIST = '/apis/resources.platform.io/v1alpha3/nodes';

function names(list: Readonly<Record<string, unknown>>): string[] {
  return array(list['items']).map((item) => String(record(record(item)['metadata'])['name']));
}

describe('list', () => {
  const cache = new NodeCache();
  let server: HandlerServer;

  before(async () => {
    server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
    cache.fill(100, [
      node('a', 1, { zone: 'x' }),
      node('b', 2, { zone: 'y' }),
      node('c', 3, { zone: 'x' }, { spec: { unschedulable: true } }),
      node('d', 4, { zone: 'x' }),
    ]);
  });

  after(() => server.close());

  it("returns all objects with our kind and group, and the cluster's resourceVersion", async () => {
    const list = await server.json(LIST);
    expect(list['kind']).to.equal('NodeList');
    expect(list['apiVersion']).to.equal('resources.platform.io/v1alpha3');
    expect(list['metadata']).to.deep.equal({ resourceVersion: '100' });
    expect(names(list)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(record(array(list['items'])[0])).to.include({
      kind: 'Node',
      apiVersion: 'resources.platform.io/v1alpha3',
    });
  });

  it('selects by labels and by fields', async () => {
    expect(names(await server.json(`${LIST}?labelSelector=zone%3Dx`))).to.deep.equal(['a', 'c', 'd']);
    expect(names(await server.json(`${LIST}?labelSelector=zone+notin+(x)`))).to.deep.equal(['b']);
    expect(names(await server.json(`${LIST}?fieldSelector=metadata.name%3Db`))).to.deep.equal(['b']);
    expect(names(await server.json(`${LIST}?fieldSelector=spec.unschedulable%3Dtrue`))).to.deep.equal(['c']);
    expect(await server.json(`${LIST}?labelSelector=zone%3Dnone`)).to.have.deep.property('items', []);
  });

  it('pages with limit and continue, and returns remainingItemCount', async () => {
    const first = await server.json(`${LIST}?limit=3`);
    const { continue: token, ...meta } = record(first['metadata']);
    expect(meta).to.deep.equal({ resourceVersion: '100', remainingItemCount: 1 });
    expect(names(first)).to.deep.equal(['a', 'b', 'c']);
    const second = await server.json(`${LIST}?limit=3&continue=${String(token)}`);
    expect(second['metadata']).to.deep.equal({ resourceVersion: '100' });
    expect(names(second)).to.deep.equal(['d']);
  });

  it('returns neither remainingItemCount nor an empty page with a selector', async () => {
    const first = await server.json(`${LIST}?limit=2&labelSelector=zone%3Dx`);
    const { continue: token, ...meta } = record(first['metadata']);
    expect(meta).to.deep.equal({ resourceVersion: '100' });
    const second = await server.json(`${LIST}?limit=1&labelSelector=zone%3Dx&continue=${String(token)}`);
    expect(names(second)).to.deep.equal(['d']);
    expect(second['metadata']).to.deep.equal({ resourceVersion: '100' });
  });

  it('ignores a negative limit', async () => {
    expect(names(await server.json(`${LIST}?limit=-1`))).to.have.length(4);
  });

  it('continues pages from the first snapshot, and returns 410 with a new token after it expired', async () => {
    const own = new NodeCache();
    const handler = await new HandlerServer(resourceHandler(nodes, own.cache)).start();
    try {
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
    } finally {
      await handler.close();
    }
  });

  for (const [query, code, message] of [
    [
      'resourceVersion=abc',
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    ['limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=-&fieldSelector=x&limit=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['labelSelector=a%2Cb%3D%3D%3Dc', 400, /^unable to parse requirement: found '=', expected: identifier/],
    ['fieldSelector=spec.nope%3D1', 400, 'field label not supported: spec.nope'],
    ['fieldSelector=metadata.namespace%3Da', 400, 'field label not supported: metadata.namespace'],
    ['fieldSelector=constructor%3Da', 400, 'field label not supported: constructor'],
    ['fieldSelector=nonsense', 400, "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['continue=!', 400, /^invalid continue token: continue key is not valid/],
    ['continue=e30', 400, /^invalid continue token: continue key is not valid/],
    ['sendInitialEvents=true', 422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list$/],
    [
      'resourceVersionMatch=Exact',
      422,
      /resourceVersionMatch is forbidden unless resourceVersion is provided$/,
    ],
    [
      'resourceVersionMatch=Odd&resourceVersion=1',
      422,
      /Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""$/,
    ],
    [
      `labelSelector=${Array.from({ length: 1001 }, (_, i) => `k${i}`).join(',')}`,
      400,
      'a selector may have at most 1000 requirements',
    ],
    ['includeObject=All', 200, undefined],
  ] as const) {
    it(`returns ${code} for ?${query.slice(0, 80)}`, async () => {
      const answer = await server.ask(`${LIST}?${query}`);
      expect(answer.status).to.equal(code);
      const status = record(JSON.parse(answer.body.toString()));
      if (message !== undefined)
        expect(status['message']).to.match(
          message instanceof RegExp ? message : new RegExp(`^${message.replace(/[.()']/g, '\\$&')}$`),
        );
    });
  }

  it('does not compress a small list', async () => {
    const answer = await server.ask(LIST, { headers: { 'Accept-Encoding': 'gzip' } });
    expect(answer.headers['content-encoding']).to.equal(undefined);
    expect(answer.headers['content-length']).to.equal(String(answer.body.length));
  });

  const forms: readonly (readonly [verb: string, path: string, form: string, kind: string | undefined])[] = [
    ['list', LIST, 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'PartialObjectMetadataList'],
    ['list', LIST, 'as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io', 'PartialObjectMetadataList'],
    ['list', LIST, 'as=Table;v=v1;g=meta.k8s.io', 'Table'],
    ['list', LIST, 'as=PartialObjectMetadata;v=v1;g=meta.k8s.io', undefined],
    ['list', LIST, 'as=Table;v=v2;g=meta.k8s.io', undefined],
    ['list', LIST, 'as=Table;v=v1;g=other.io', undefined],
    ['get', `${LIST}/a`, 'as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'PartialObjectMetadata'],
    ['get', `${LIST}/a`, 'as=Table;v=v1beta1;g=meta.k8s.io', 'Table'],
    ['get', `${LIST}/a`, 'as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', undefined],
  ];
  for (const [verb, path, form, kind] of forms) {
    it(`${kind === undefined ? 'rejects' : 'serves'} a ${verb} with ${form}`, async () => {
      const answer = await server.json(path, { headers: { Accept: `application/json;${form}` } });
      if (kind === undefined) expect(answer).to.include({ code: 406, reason: 'NotAcceptable' });
      else expect(answer).to.include({ kind, apiVersion: `meta.k8s.io/${/v=(\w+)/.exec(form)?.[1] ?? ''}` });
    });
  }

  it('quotes a name with special characters in a 404', async () => {
    const answer = await server.ask(`${LIST}/a%22%5Cb`);
    expect(answer.status).to.equal(404);
    const { message } = record(JSON.parse(answer.body.toString()));
    expect(message).to.equal('nodes.resources.platform.io "a\\"\\\\b" not found');
  });

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

  it('builds no body for HEAD', async () => {
    const own = new NodeCache();
    own.fill(
      10,
      Array.from({ length: 400 }, (_, i) => node(`n${i}`, i + 1, { text: 'x'.repeat(1000) })),
    );
    let made = 0;
    const { cache } = own;
    const pieces = cache.snapshot().pieces();
    cache.snapshot().pieces = () =>
      pieces.map((piece) => ({
        length: () => piece.length(),
        checksum: () => piece.checksum(),
        json: () => piece.json(),
        deflated: () => {
          made++;
          return piece.deflated();
        },
      }));
    const handler = await new HandlerServer(resourceHandler(nodes, cache)).start();
    try {
      const headers = { 'accept-encoding': 'gzip' };
      const head = await handler.ask(LIST, { method: 'HEAD', headers });
      expect([head.headers['content-encoding'], made]).to.deep.equal(['gzip', 0]);
      await handler.ask(LIST, { headers });
      expect(made).to.equal(pieces.length);
    } finally {
      await handler.close();
    }
  });

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

  it('indents with ?pretty=true, without changes to numbers and strings and without a final newline', async () => {
    const own = new NodeCache();
    const odd =
      '{"metadata":{"name":"ö","resourceVersion":"1","labels":{}},"big":12345678901234567890,"s":"a, [b]: \\"{\\u00e9","e":[],"f":{}}';
    const replacement = own.cache.replacement();
    replacement.add(Buffer.from(odd));
    replacement.commit('5');
    const handler = await new HandlerServer(resourceHandler(nodes, own.cache)).start();
    try {
      const { body } = await handler.ask(`${LIST}/%C3%B6?pretty=true`);
      expect(body.toString()).to.equal(
        `{
  "kind": "Node",
  "apiVersion": "resources.platform.io/v1alpha3",
  "metadata": {
    "name": "ö",
    "resourceVersion": "1",
    "labels": {}
  },
  "big": 12345678901234567890,
  "s": "a, [b]: \\"{\\u00e9",
  "e": [],
  "f": {}
}`,
      );
      const plain = await handler.ask(`${LIST}/%C3%B6`);
      expect(plain.body.toString()).to.match(/"f":\{\}\}\n$/);
      expect(plain.headers['content-length']).to.equal(String(plain.body.length));
      const accepting = await handler.ask(`${LIST}/%C3%B6`, {
        headers: { Accept: 'application/json;pretty=1' },
      });
      expect(accepting.body.equals(body)).to.equal(true);
      const list = await handler.ask(`${LIST}?pretty=1`);
      expect(list.headers['content-length']).to.equal(String(list.body.length));
      expect(list.body.toString()).to.contain('\n  "items": [\n    {\n      "kind": "Node"');
    } finally {
      await handler.close();
    }
  });
});

describe('list of many objects', () => {
  const cache = new NodeCache();
  let server: HandlerServer;

  before(async () => {
    server = await new HandlerServer(resourceHandler(nodes, cache.cache)).start();
    const filler = 'x'.repeat(2000);
    cache.fill(
      9000,
      Array.from({ length: 500 }, (_, i) =>
        node(`n${String(i).padStart(4, '0')}`, i + 1, { odd: String(i % 2) }, { filler }),
      ),
    );
  });

  after(() => server.close());

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
    expect((await server.json(`${LIST}?pretty=true`))['items']).to.deep.equal(items);
    expect((await server.json(`${LIST}?limit=400`))['items']).to.deep.equal(items.slice(0, 400));
    expect((await server.json(`${LIST}?labelSelector=odd%3D1`))['items']).to.deep.equal(
      items.filter((_, i) => i % 2 > 0),
    );
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
    for (const coding of ['gzip;q=0, identity', 'gzip;q=0.000', 'x-gzip2', 'br']) {
      const refused = await server.ask(LIST, { headers: { 'Accept-Encoding': coding } });
      expect(refused.headers['content-encoding'], coding).to.equal(undefined);
    }
  });

  it('is complete for any object size', async () => {
    const own = new NodeCache();
    const handler = await new HandlerServer(resourceHandler(nodes, own.cache)).start();
    const list = async (filler: string): Promise<string> => {
      own.fill(10, [node('a', 1, { zone: 'x' }, { filler }), node('b', 2, { zone: 'x' })]);
      return (await handler.ask(`${LIST}?labelSelector=zone`)).body.toString();
    };
    try {
      const end = (await list('')).indexOf(',{"kind":"Node"');
      for (const surplus of [-1, 0, 1]) {
        const body = await list('x'.repeat(GZIP_THRESHOLD + surplus - end));
        expect(body.indexOf(',{"kind":"Node"')).to.equal(GZIP_THRESHOLD + surplus);
        expect(names(record(JSON.parse(body)))).to.deep.equal(['a', 'b']);
      }
    } finally {
      await handler.close();
    }
  });

  it('destroys the connection of an aborted response', async () => {
    const incoming = await server.open(LIST, gzip);
    incoming.destroy();
    // A response on a new connection shows that the server still works.
    expect((await server.ask(`${LIST}/n0001`)).status).to.equal(200);
    expect(server.lastError).to.equal(undefined);
  });
});

// Tests of the requests of the client library, against a real HTTP server.
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Client, ConnectionError, objectPath, StatusError } from '../../../client/index.ts';
import { rejection } from '../../support/rejection.ts';
import { json, type Script, scriptedServer } from '../../support/scripted-server.ts';
import { until } from '../../support/until.ts';

const PAGE = { items: [], totalItems: 0, metadata: { resourceVersion: '1' } };

/** Responds with the token of the request. */
const echo: Script = (request, response) => json({ token: request.headers.authorization })(request, response);

describe('a request of the client', () => {
  const server = scriptedServer();
  const client = (options: object = {}): Client => new Client({ server: server.url, token: 'T', ...options });

  it('sends the query of a list to the path of the server', async () => {
    server.respond(json(PAGE));
    for (const path of ['/prefix', '/prefix/', '//']) {
      await client({ server: server.url + path }).lists.page('deployments.apps', {
        names: [],
        status: ['a', 'b c'],
        limit: 5,
        q: 'ä&=',
        sortBy: undefined,
      });
    }
    const list =
      '/kapis/resources.platform.io/v1alpha3/deployments.apps?names=&status=a%2Cb+c&limit=5&q=%C3%A4%26%3D';
    expect(server.asked).to.deep.equal([`GET /prefix${list}`, `GET /prefix${list}`, `GET ${list}`]);
  });

  it('sends only the token as credential', async () => {
    server.respond(echo);
    const { kubernetes } = client();
    expect(await kubernetes.get('/version')).to.deep.equal({ token: 'Bearer T' });
  });

  it('rejects an element of a list with a comma, which the server would split', async () => {
    server.respond(json(PAGE));
    const { lists, logs, kubernetes } = client();
    const names = ['a,b'];
    expect((await rejection(lists.page('pods', { names }))).message).to.include('comma');
    // Streams do not repeat such a request.
    expect(() => lists.live('pods', { names })).to.throw(TypeError, 'comma');
    expect(() => logs.tail({ pods: names })).to.throw(TypeError, 'comma');
    expect(() => kubernetes.watch('/api/../v1/pods')).to.throw(TypeError, 'path');
    expect(server.asked).to.deep.equal([]);
  });

  it('keeps names inside their segment of a path', async () => {
    const { lists, kubernetes } = client();
    for (const name of ['', '.', '..', 'a/b', '..\\b', 'a\nb', '/']) {
      expect((await rejection(lists.page(name))).name, name).to.equal('TypeError');
      expect(() => lists.live(name), name).to.throw(TypeError);
      expect(() => objectPath({ apiVersion: 'v1', resource: 'pods', namespace: name }), name).to.throw();
    }
    for (const path of ['x', '//../..', '/a/../b', '/a/%2E%2e', '/a#b', '/a b', '/\\evil', '/a\t/b', '']) {
      expect((await rejection(kubernetes.get(path))).name, path).to.equal('TypeError');
    }
    expect(server.asked).to.deep.equal([]);
    server.respond(json({}));
    await kubernetes.get(objectPath({ apiVersion: 'a/v1', resource: 'b', name: 'x?y%2f..#z:w' }));
    await kubernetes.get('//evil.example/?a=b?c', { query: { d: 'e' } });
    expect(server.asked).to.deep.equal([
      'GET /apis/a/v1/b/x%3Fy%252f..%23z%3Aw',
      'GET //evil.example/?a=b%3Fc&d=e',
    ]);
  });

  it('accepts only addresses of servers', () => {
    for (const address of ['ftp://a', 'http://u:p@a', 'http://a/?q', 'http://a/#f', 'a', '/a']) {
      expect(() => client({ server: address }), address).to.throw(TypeError);
    }
    expect(() => new Client({ token: 'T' })).to.throw(TypeError, 'server');
  });

  it('throws the Status of a response', async () => {
    const causes = [{ field: 'nmae', message: 'unknown', reason: 'FieldValueNotSupported' }];
    const status = { kind: 'Status', message: 'no', reason: 'BadRequest', details: { causes }, code: 400 };
    server.respond(json(status, 400));
    const error = await rejection(client().lists.page('pods'));
    expect(error).to.be.instanceOf(StatusError).with.property('name', 'StatusError');
    expect(error).to.deep.include({ code: 400, reason: 'BadRequest', message: 'no', causes });
  });

  it('throws a Status also for bodies that are none', async () => {
    const body =
      (type: string, text: string): Script =>
      (_request, response) => {
        response.writeHead(502, { 'Content-Type': type }).end(text);
      };
    const message = async (script: Script): Promise<string> => {
      server.respond(script);
      const error = await rejection(client().kubernetes.get('/version'));
      expect(error).to.include({ code: 502, reason: '' });
      return error.message;
    };
    expect(await message(body('text/plain; charset=utf-8', 'no backend\n'))).to.equal('no backend');
    expect(await message(body('text/plain', 'x'.repeat(5000)))).to.have.length(1000);
    const generic = 'GET /version returned 502 Bad Gateway';
    expect(await message(body('text/html', '<html>'))).to.equal(generic);
    expect(await message(body('application/json', '{"kind":"Status"'))).to.equal(generic);
    expect(await message(body('application/json', 'null'))).to.equal(generic);
    expect(await message(body('text/plain', ''))).to.equal(generic);
  });

  it('reads Retry-After as seconds and as a date', async () => {
    const after = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
      server.respond(json({}, 503, headers));
      const error = await rejection(client().kubernetes.get('/version'));
      return error instanceof StatusError && error.retryAfter;
    };
    const date = 'Sun, 29 Nov 2026 19:00:00 GMT';
    expect(await after({ 'Retry-After': '7' })).to.equal(7);
    expect(await after({ Date: date, 'Retry-After': 'Sun, 29 Nov 2026 19:01:30 GMT' })).to.equal(90);
    expect(await after({ Date: date, 'Retry-After': 'Sun, 29 Nov 2026 18:00:00 GMT' })).to.equal(0);
    expect(await after({ 'Retry-After': 'soon' })).to.equal(undefined);
    expect(await after({})).to.equal(undefined);
  });

  it('asks once for another token after 401, and repeats the request', async () => {
    const rejected: (string | undefined)[] = [];
    const tokens = ['old', 'new'];
    const source = {
      token: async (options: { rejected?: string } = {}) => {
        rejected.push(options.rejected);
        return tokens.shift() ?? 'new';
      },
    };
    server.respond(json({}, 401), echo);
    expect(await client({ token: source }).kubernetes.get('/version')).to.deep.equal({ token: 'Bearer new' });
    expect(rejected).to.deep.equal([undefined, 'old']);
    server.respond(json({}, 401));
    tokens.push('a', 'b');
    expect(await rejection(client({ token: source }).kubernetes.get('/version'))).to.include({ code: 401 });
    expect(server.asked).to.have.length(4);
    expect(await rejection(client().kubernetes.get('/version'))).to.include({ code: 401 });
    expect(server.asked).to.have.length(5);
  });

  it('throws the error of the token source', async () => {
    const signInRequired = new Error('sign in again');
    const token = async (options: { rejected?: string } = {}): Promise<string> => {
      if (options.rejected !== undefined) throw signInRequired;
      return 'old';
    };
    server.respond(json({}, 401));
    expect(await rejection(client({ token: { token } }).kubernetes.get('/version'))).to.equal(signInRequired);
    await until(() => server.open.size === 0);
  });

  it('follows no redirect, which could send the token to another server', async () => {
    server.respond((request, response) => {
      response.writeHead(request.url === '/a' ? 307 : 200, { Location: '/b' }).end();
    });
    const error = await rejection(client().kubernetes.get('/a'));
    expect(error).to.include({
      code: 307,
      message: 'GET /a: the server redirects, which the client does not follow',
    });
    expect(server.asked).to.deep.equal(['GET /a']);
  });

  it('reports warnings', async () => {
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    server.respond(json({}, 200, { Warning: '299 - "unknown field \\"a\\"", 299 - "old, version"' }));
    await client({ onWarning }).kubernetes.patch('/a', {});
    expect(warnings).to.deep.equal(['unknown field "a"', 'old, version']);
  });

  it('fails with a ConnectionError without a server, without a response, and within a response', async () => {
    const broken: Script = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{', () => response.destroy());
    };
    server.respond(broken);
    const lost = await rejection(client().kubernetes.get('/version'));
    expect(lost)
      .to.be.instanceOf(ConnectionError)
      .with.property('message', 'GET /version: the connection failed');
    for (const status of [200, 500]) {
      server.respond((_request, response) => void response.writeHead(status).write('{'));
      const stalled = await rejection(client({ timeout: 20 }).kubernetes.get('/version'));
      expect(stalled.message).to.equal('GET /version: the server sent nothing for 0.02 s');
    }
    server.respond(() => undefined);
    const silent = await rejection(client({ timeout: 20 }).kubernetes.get('/version'));
    expect(silent).to.be.instanceOf(ConnectionError);
    expect(silent.message).to.equal('GET /version: the server sent nothing for 0.02 s');
    await until(() => server.open.size === 0);
    const { kubernetes } = client();
    await server.stop();
    expect(await rejection(kubernetes.get('/'))).to.be.instanceOf(ConnectionError);
    await server.start();
  });

  it('waits for the first line of a log that is followed', async () => {
    server.respond(() => undefined);
    const { kubernetes } = client({ timeout: 20 });
    const first = kubernetes.lines('/log', { query: { follow: true } }).next();
    await until(() => server.open.size === 1);
    const [log] = server.open;
    // Its timeout starts later than that of the log would.
    await rejection(kubernetes.get('/version'));
    log?.end('at last\n');
    expect(await first).to.deep.equal({ done: false, value: 'at last' });
  });

  it('names a response that is not JSON', async () => {
    server.respond((_request, response) => void response.end('<html>'));
    const { message } = await rejection(client().kubernetes.get('/version'));
    expect(message).to.equal('GET /version: the response is not JSON');
  });

  it('ends with the reason of the caller, before, during and after the headers', async () => {
    const reason = new Error('enough');
    const early = client().kubernetes.get('/a', { signal: AbortSignal.abort(reason) });
    expect(await rejection(early)).to.equal(reason);
    for (const script of [
      () => undefined,
      ((_request, response) => void response.write('{')) satisfies Script,
    ]) {
      server.respond(script);
      const abort = new AbortController();
      const request = client().kubernetes.get('/a', { signal: abort.signal });
      await until(() => server.open.size === 1);
      abort.abort(reason);
      expect(await rejection(request)).to.equal(reason);
      await until(() => server.open.size === 0);
    }
  });

  it('leaves nothing at the signal of the caller', async () => {
    const { signal } = new AbortController();
    const { kubernetes, lists } = client();
    const stream: Script = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('event: page\ndata: {}\n\n');
    };
    server.respond(json({}), json({}, 500), (_request, response) => response.destroy(), stream);
    await kubernetes.get('/a', { signal });
    await rejection(kubernetes.get('/a', { signal }));
    await rejection(kubernetes.get('/a', { signal }));
    for await (const _page of lists.live('pods', {}, { signal })) break;
    for await (const _line of kubernetes.lines('/a', { signal })) break;
    expect(getEventListeners(signal, 'abort')).to.deep.equal([]);
    await until(() => server.open.size === 0);
  });

  it('returns text exactly, with the requested type', async () => {
    let accept: string | undefined;
    server.respond((request, response) => {
      ({ accept } = request.headers);
      response.end('a: 9007199254740993\n');
    });
    const text = await client().kubernetes.text('/a', { accept: 'application/yaml' });
    expect([text, accept]).to.deep.equal(['a: 9007199254740993\n', 'application/yaml']);
  });
});

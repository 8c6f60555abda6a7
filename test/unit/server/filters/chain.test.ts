// Tests of the filter chain: errors, deadlines and upgrades.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { newServiceUnavailable, newUnauthorized } from '../../../../apis/meta/v1/errors.ts';
import type { Authenticator } from '../../../../server/authentication/authenticator.ts';
import { isLongRunning } from '../../../../server/request/long-running.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { rejection } from '../../../support/rejection.ts';
import { until } from '../../../support/until.ts';
import {
  type Ask,
  alice,
  ask,
  type ChainFixture,
  chainEach,
  NODES,
  rawConnection,
  type startChain,
} from './chain-fixture.ts';

const asAlice = { headers: { 'test-user': 'alice' } };
const ok: Handler = ({ response }) => void response.end('ok');

describe('the request chain', () => {
  const start = chainEach();

  it('returns and logs the given Audit-Id, or a new one instead of a malformed one', async () => {
    const chain = await start({ handler: ok });
    for (const id of ['abc-123', 'a b', 'x'.repeat(65), '<script>', '']) {
      const { headers } = await ask(chain, NODES, { headers: { ...asAlice.headers, 'audit-id': id } });
      expect(headers['audit-id'], id).to.match(
        id === 'abc-123' ? /^abc-123$/ : /^[0-9a-f]{8}-[0-9a-f-]{27}$/,
      );
    }
    expect(chain.lines[0]).to.include({ requestID: 'abc-123' });
  });

  it('logs one line with user, verb, resource, status and latency, without the query', async () => {
    let time = 5_000;
    const chain = await start({
      monotonic: () => time,
      handler: ({ response, query, secure }) => {
        time += 250;
        response.end(`${query.get('code')} ${secure}`);
      },
    });
    const headers = { 'test-user': 'alice', 'user-agent': 'kubectl' };
    expect((await ask(chain, `${NODES}?code=secret`, { headers })).body).to.equal('secret true');
    await until(() => chain.observed.length === 1 && chain.lines.length > 0);
    expect(chain.lines[0]).to.include({
      level: 20,
      user: 'alice',
      verb: 'list',
      resource: 'nodes.resources.platform.io',
      path: NODES,
      status: 200,
      userAgent: 'kubectl',
      source: '127.0.0.1',
      latency: 250,
    });
    expect(chain.observed[0]).to.include({ seconds: 0.25 });
    expect(JSON.stringify(chain.lines)).not.to.contain('secret');
  });

  it('truncates long paths in log, audit and response', async () => {
    const chain = await start({ handler: ok });
    const long = 'z'.repeat(2_500);
    const { status, body } = await ask(chain, `/apis/${long}/v1/namespaces/${long}/${long}/${long}/${long}`);
    expect(status).to.equal(403);
    expect(body).to.have.length.below(9_000);
    await until(() => chain.audited.length > 0);
    expect(JSON.stringify(chain.lines[0])).to.have.length.below(5_000);
    expect(JSON.stringify(chain.audited[0])).to.have.length.below(5_000);
  });

  it('removes control characters, and those that change the order of text, from names and reasons in log and audit', async () => {
    const user = { name: 'eve\u009b2J\u202e', uid: '', groups: ['g\u001b[2J\u2066'], extra: {} };
    const chain = await start({
      handler: () => {
        throw newUnauthorized(new Error('issued by \u009b31m'));
      },
      authenticator: { name: 'test', authenticate: () => user },
      authorizer: { authorize: () => ({ allowed: true, reason: 'by \u009b0m' }) },
    });
    const socket = await rawConnection(chain);
    const request = `GET ${NODES} HTTP/1.1\r\nHost: x\r\nUser-Agent: \x9b31m\r\nConnection: close\r\n\r\n`;
    socket.write(Buffer.from(request, 'latin1'));
    expect(await text(socket)).to.match(/^HTTP\/1\.1 401 /);
    await until(() => chain.audited.length > 0);
    expect(chain.lines[0]).to.include({ user: 'eve?2J?', userAgent: '?31m' });
    expect(chain.lines[0]?.['cause']).to.contain('issued by ?31m');
    expect(chain.audited[0]).to.deep.include({ user: 'eve?2J?', groups: ['g?[2J?'], reason: 'by ?0m' });
  });

  it('audits mutating and rejected requests with user, source and decision', async () => {
    const chain = await start({ handler: ok });
    for (const user of ['alice', 'bob']) {
      await ask(chain, `${NODES}/n1`, { method: 'DELETE', headers: { 'test-user': user } });
    }
    await until(() => chain.audited.length === 2);
    const what = { verb: 'delete', resource: 'nodes.resources.platform.io', name: 'n1', source: '127.0.0.1' };
    expect(chain.audited[0]).to.include({ ...what, user: 'alice', status: 200, decision: 'allow' });
    expect(chain.audited[1]).to.include({ ...what, user: 'bob', status: 403, decision: 'forbid' });
  });

  it('logs successful reads and reported failures at debug, rejections and changes at info, outages at warn, bugs at error', async () => {
    const statuses = [200, 500, 404, 201];
    const errors = [newServiceUnavailable('wait', 1), new Error('password is hunter2')];
    const chain = await start({
      handler: ({ response }) => {
        const status = statuses.shift();
        if (status === undefined) throw errors.shift();
        response.statusCode = status;
        response.end();
      },
    });
    const answers = [];
    for (const method of ['GET', 'GET', 'GET', 'POST', 'GET', 'GET']) {
      answers.push(await ask(chain, NODES, { method, headers: asAlice.headers }));
    }
    const bug = answers.at(-1);
    expect(bug?.status).to.equal(500);
    expect(bug?.body).to.contain(String(bug?.headers['audit-id'])).and.not.to.contain('hunter2');
    const requests = () => chain.lines.filter((line) => line['msg'] === 'request');
    await until(() => requests().length === 6);
    expect(requests().map((line) => line['level'])).to.deep.equal([20, 20, 30, 30, 40, 50]);
    expect(JSON.stringify(chain.lines)).to.contain('hunter2');
  });

  const rejecting = (error: Error): Authenticator => ({
    name: 'bad',
    authenticate: () => {
      throw error;
    },
  });

  describe('refusals', () => {
    const reasons: Readonly<Record<number, string>> = {
      400: 'BadRequest',
      401: 'Unauthorized',
      403: 'Forbidden',
      413: 'RequestEntityTooLarge',
      503: 'ServiceUnavailable',
    };
    type Options = Partial<Parameters<typeof startChain>[0]>;
    const knowing = (authenticate: Authenticator['authenticate']): Options => ({
      authenticator: { name: 'test', authenticate },
    });
    const later = knowing(() => Promise.reject(newUnauthorized()));
    const invalid = { authenticator: rejecting(newUnauthorized(new Error('signature of bob'))) };
    const silent = { authorizer: { authorize: () => Promise.reject(newServiceUnavailable('no response')) } };
    const large = { headers: { ...asAlice.headers, 'content-length': '1001' }, body: 'x'.repeat(1001) };
    const impersonating = { headers: { ...asAlice.headers, 'impersonate-user': 'bob' } };
    const cases: readonly (readonly [string, number, boolean, Ask, Options?, string?])[] = [
      ['invalid credentials', 401, true, {}, invalid],
      ['credentials that are rejected asynchronously', 401, true, {}, later],
      ['no credentials while anonymous access is disabled', 401, true, {}, knowing(() => undefined)],
      ['a caller without permission', 403, true, { headers: { 'test-user': 'bob' } }],
      ['an ambiguous path', 400, true, asAlice, {}, `${NODES}/a%2fb`],
      ['impersonation headers', 400, false, impersonating],
      ['a large body', 413, true, large],
      ['an unresponsive cluster', 503, false, asAlice, silent],
    ];
    for (const [what, status, audited, request, options, path = NODES] of cases) {
      it(`responds to ${what} with a ${status} Status that is logged, counted${audited ? ' and audited' : ''}`, async () => {
        const chain = await start({ handler: ok, ...options });
        const answer = await ask(chain, path, request);
        expect(answer.status).to.equal(status);
        expect(answer.headers['content-type']).to.equal('application/json');
        expect(answer.headers['cache-control']).to.equal('no-cache, private');
        expect(answer.headers['audit-id']).to.be.a('string');
        const expected = { kind: 'Status', apiVersion: 'v1', code: status, reason: reasons[status] };
        expect(JSON.parse(answer.body)).to.include(expected);
        expect(answer.body).not.to.contain('signature');
        await until(() => chain.observed.length === 1 && chain.lines.length > 0);
        expect(chain.observed[0]?.code).to.equal(status);
        expect(chain.lines[0]).to.include({ status });
        expect(chain.audited.map((event) => event.status)).to.deep.equal(audited ? [status] : []);
        // An unauthenticated request has no user and no groups.
        if (status === 401) expect(chain.audited[0]).not.to.have.any.keys('user', 'groups', 'decision');
      });
    }

    it('returns error="invalid_token" with the 401 of a rejected bearer token only', async () => {
      const chain = await start({
        handler: ok,
        authenticator: rejecting(newUnauthorized(new Error('expired yesterday'))),
      });
      const challenge = async (authorization: string): Promise<unknown> =>
        (await ask(chain, NODES, { headers: { authorization } })).headers['www-authenticate'];
      expect(await challenge('Bearer abc')).to.equal('Bearer error="invalid_token"');
      expect(await challenge('bearer')).to.equal('Bearer error="invalid_token"');
      expect(await challenge('Basic abc')).to.equal('Bearer');
      await until(() => chain.lines.length === 3);
      expect(chain.lines[0]?.['cause']).to.contain('expired yesterday');
      expect(chain.lines[0]).not.to.have.property('user');
    });

    it('returns the message of kube-apiserver with a 403, and its length to HEAD', async () => {
      const chain = await start({ handler: ok });
      const { body } = await ask(chain, `${NODES}/n1/status`, { headers: { 'test-user': 'a<b' } });
      expect(JSON.parse(body)).to.deep.include({
        message:
          'nodes.resources.platform.io "n1" is forbidden: User "a&lt;b" cannot get resource "nodes/status" in API group "resources.platform.io" at the cluster scope',
        details: { name: 'n1', group: 'resources.platform.io', kind: 'nodes' },
      });
      const metrics = await ask(chain, '/metrics');
      expect(JSON.parse(metrics.body)).to.include({
        message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      });
      const head = await ask(chain, NODES, { method: 'HEAD' });
      expect([head.status, head.body]).to.deep.equal([403, '']);
      expect(Number(head.headers['content-length'])).to.be.above(100);
    });
  });

  it('closes the connection when a handler fails during its response', async () => {
    const chain = await start({
      handler: async ({ response }) => {
        response.writeHead(200);
        await new Promise<void>((resolve) => response.write('half', () => resolve()));
        throw new Error('lost');
      },
    });
    expect(await rejection(ask(chain, NODES, asAlice))).to.be.an('error');
  });

  const limited = (timeoutMs: number) => ({ maxBodyBytes: 1000, timeoutMs });

  it('returns 504 at the deadline, aborts the handler, and ignores its later output', async () => {
    let reason: unknown;
    let finished = false;
    const chain = await start({
      limits: limited(20),
      handler: async ({ signal, response }) => {
        await once(signal, 'abort');
        reason = signal.reason;
        response.end('late');
        finished = true;
      },
    });
    const { status, body } = await ask(chain, NODES, asAlice);
    expect(status).to.equal(504);
    expect(JSON.parse(body)).to.include({ reason: 'Timeout' });
    await until(() => finished);
    expect(reason).to.have.property('code', 504);
    await until(() => chain.terminated.length === 1);
    expect(chain.terminated).to.deep.equal([504]);
  });

  it('returns 504 after the timeout parameter, at most at the deadline', async () => {
    const never: Handler = ({ signal }) => once(signal, 'abort').then(() => undefined);
    const patient = await start({ handler: never });
    expect((await ask(patient, `${NODES}?timeout=10ms`, asAlice)).status).to.equal(504);
    expect((await ask(patient, '/readyz?timeout=0.01s')).status).to.equal(504);
    const strict = await start({ limits: limited(10), handler: never });
    for (const timeout of ['5h', '0s', '-1s', '']) {
      expect((await ask(strict, `${NODES}?timeout=${timeout}`, asAlice)).status, timeout).to.equal(504);
    }
  });

  it('rejects an invalid timeout parameter, except for watches and other paths', async () => {
    const chain = await start({ handler: ok, longRunning: isLongRunning });
    for (const [timeout, error] of [
      ['abc', 'invalid duration "abc"'],
      ['9999999999h', 'invalid duration "9999999999h"'],
      ['1h30', 'missing unit in duration "1h30"'],
      ['-1.5d', 'unknown unit "d" in duration "-1.5d"'],
    ]) {
      const refused = await ask(chain, `${NODES}?timeout=${timeout}`, asAlice);
      expect(refused.status).to.equal(400);
      expect(JSON.parse(refused.body)).to.have.property(
        'message',
        `invalid timeout specified in the request URL - time: ${error}`,
      );
    }
    const kapis = NODES.replace('/apis', '/kapis');
    for (const target of [`${NODES}?watch=1&`, `${kapis}?`, '/oauth/token?']) {
      expect((await ask(chain, `${target}timeout=abc`, asAlice)).status, target).to.equal(200);
    }
  });

  it('sets no deadline for watches, and ends them when draining', async () => {
    const chain = await start({
      limits: limited(10),
      handler: ({ signal, response, info }) => {
        if (info.verb !== 'watch') return;
        response.write('event\n');
        signal.addEventListener('abort', () => response.end('bye\n'));
      },
    });
    const watch = ask(chain, `${NODES}?watch=1`, asAlice);
    await until(() => chain.gauges.longRunning === 1);
    // The deadline of this later request has passed, so the watch has outlived the deadline too.
    expect((await ask(chain, NODES, asAlice)).status).to.equal(504);
    expect(chain.gauges.longRunning).to.equal(1);
    expect(chain.chain.drain()).to.equal(1);
    expect((await watch).body).to.equal('event\nbye\n');
    await until(() => chain.gauges.longRunning === 0);
    const refused = await ask(chain, `${NODES}?watch=1`, asAlice);
    expect(refused.status).to.equal(503);
    expect(refused.headers['retry-after']).to.equal('1');
  });

  /** A request that the test destroys. */
  function sending({ port, ca }: ChainFixture) {
    const sent = request({ host: '127.0.0.1', port, path: NODES, ca: ca.cert, ...asAlice });
    sent.on('error', () => undefined);
    return sent.end();
  }

  it('aborts the signal and records 499 when the client disconnects before the response', async () => {
    let aborted = false;
    const chain = await start({
      handler: async ({ signal }) => {
        await once(signal, 'abort');
        aborted = true;
      },
    });
    const sent = sending(chain);
    await until(() => chain.gauges.readOnly === 1);
    sent.destroy();
    await until(() => aborted);
    expect(chain.observed.map(({ code }) => code)).to.deep.equal([499]);
    expect(chain.chain.open).to.equal(0);
  });

  describe('upgrades', () => {
    const upgrade = (path: string, user: string): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\nTest-User: ${user}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;

    it('are rejected by the same filters with the same Status', async () => {
      const chain = await start({ handler: ok });
      const socket = await rawConnection(chain);
      socket.write(upgrade(NODES, 'bob'));
      const answer = await text(socket);
      expect(answer).to.match(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(answer).to.match(/audit-id: /i);
      expect(answer).to.match(/connection: close/i);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).to.include({ kind: 'Status', code: 403 });
      await until(() => chain.observed.length === 1 && chain.audited.length === 1);
      expect(chain.chain.open).to.equal(0);
    });

    it('may disconnect during a filter without effect on others', async () => {
      const requested = Promise.withResolvers<void>();
      const known = Promise.withResolvers<typeof alice>();
      const chain = await start({
        handler: ok,
        authenticator: {
          name: 'slow',
          authenticate: ({ request: { headers } }) => {
            if (headers.upgrade === undefined) return alice;
            requested.resolve();
            return known.promise;
          },
        },
      });
      // A plain socket, because TLS sockets handle the error in any case.
      const plain = createServer();
      plain.on('upgrade', (request, socket, head) => chain.chain.serveUpgrade(request, socket, head, false));
      const socket = connect(await listenOnLoopback(plain), '127.0.0.1');
      socket.write(upgrade(NODES, 'alice'));
      await requested.promise;
      // A reset instead of a close, so that the socket of the server emits an error.
      socket.resetAndDestroy();
      await until(() => chain.chain.open === 0);
      known.resolve(alice);
      expect((await ask(chain, NODES)).status).to.equal(200);
      await closeNow(plain);
    });
  });

  it('shares labels between unknown paths, resources and methods, and has one per health check', async () => {
    const chain = await start({ handler: ok });
    await ask(chain, '/apis/evil/v1/things-1', asAlice);
    await ask(chain, '/random-2', asAlice);
    await ask(chain, NODES, { ...asAlice, method: 'PROPFIND' });
    await ask(chain, `${NODES}/n1`, { ...asAlice, method: 'HEAD' });
    await ask(chain, NODES, { ...asAlice, method: 'DELETE' });
    const health = ['/readyz', '/readyz/oauth', '/livez?verbose', '/readyzz', '/healthz'];
    for (const path of health) await ask(chain, path, asAlice);
    await until(() => chain.observed.length === 10);
    const counted = chain.observed.map(({ labels }) => labels.subresource);
    expect(counted.slice(5)).to.deep.equal(['/readyz', '/readyz', '/livez', '', '/healthz']);
    const labels = chain.observed.map(({ labels }) => `${labels.verb} ${labels.resource} ${labels.scope}`);
    const unknown = ['GET  ', 'GET  ', 'OTHER nodes cluster'];
    expect(labels.slice(0, 3)).to.deep.equal(unknown);
    expect(labels.slice(3, 5)).to.deep.equal(['GET nodes resource', 'DELETECOLLECTION nodes cluster']);
  });

  it('removes identity headers and accepted bearer tokens, and keeps Basic credentials', async () => {
    const seen: unknown[] = [];
    const chain = await start({
      handler: ({ request: { headers }, response }) => {
        seen.push(headers.authorization, headers['x-remote-user'], headers['x-remote-extra-scopes']);
        response.end();
      },
    });
    const identity = { 'x-remote-user': 'root', 'x-remote-extra-scopes': 'all' };
    await ask(chain, NODES, { headers: { ...asAlice.headers, ...identity, authorization: 'Bearer abc' } });
    await ask(chain, NODES, { headers: { ...asAlice.headers, authorization: 'Basic abc' } });
    expect(seen).to.deep.equal([undefined, undefined, undefined, 'Basic abc', undefined, undefined]);
  });

  it('serves health and discovery to callers with invalid credentials', async () => {
    const chain = await start({
      handler: ({ request, response, user }) =>
        void response.end(JSON.stringify([user.name, request.headers['x-remote-user'] ?? null])),
      authenticator: rejecting(newServiceUnavailable('the front proxy is not known yet')),
    });
    for (const path of ['/livez', '/readyz/ping', '/version', '/apis', '/apis/g/v1', '/openapi/v2']) {
      const { status, body } = await ask(chain, path, { headers: { 'x-remote-user': 'root' } });
      expect([path, status, JSON.parse(body)]).to.deep.equal([path, 200, ['system:anonymous', null]]);
    }
    for (const path of ['/metrics', NODES, '/']) expect((await ask(chain, path)).status).to.equal(503);
    expect((await ask(chain, '/livez', { method: 'POST' })).status).to.equal(503);
  });

  for (const refused of [newUnauthorized(new Error('malformed')), newServiceUnavailable('not known yet')]) {
    it(`logs a failed health check at debug even with invalid credentials: ${refused.code}`, async () => {
      const chain = await start({
        handler: ({ response }) => void response.writeHead(500).end('readyz check failed'),
        authenticator: rejecting(refused),
      });
      expect((await ask(chain, '/readyz')).status).to.equal(500);
      await until(() => chain.lines.length > 0);
      expect(chain.lines.map((line) => line['level'])).to.deep.equal([20]);
      expect(chain.lines[0]?.['cause']).to.match(/malformed$|not known yet$/);
    });
  }

  it('serves health and discovery while a TokenReview is pending', async () => {
    const chain = await start({
      handler: ({ response, user }) => void response.end(user.name),
      authenticator: { name: 'hanging', authenticate: () => new Promise(() => undefined) },
    });
    const answers = await Promise.all(['/readyz', '/apis/g/v1'].map((path) => ask(chain, path)));
    for (const answer of answers) expect(answer).to.include({ status: 200, body: 'system:anonymous' });
  });

  it('serves sign-in paths as anonymous, without anonymous access and with any credentials', async () => {
    const chain = await start({
      handler: ({ request, response, user }) =>
        void response.end(
          JSON.stringify([
            user.name,
            request.headers['x-remote-user'] ?? null,
            request.headers.authorization ?? null,
          ]),
        ),
      authenticator: {
        name: 'strict',
        authenticate: ({ request: { headers } }) => {
          if (headers.authorization !== undefined) throw newUnauthorized();
          return undefined;
        },
      },
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      signInPaths: (path) => path.startsWith('/oauth/'),
    });
    const { status, body } = await ask(chain, '/oauth/token', { headers: { 'x-remote-user': 'root' } });
    expect([status, JSON.parse(body)]).to.deep.equal([200, ['system:anonymous', null, null]]);
    const bad = { headers: { authorization: 'Bearer bad' } };
    const ignored = await ask(chain, '/oauth/token', bad);
    expect([ignored.status, JSON.parse(ignored.body)]).to.deep.equal([200, ['system:anonymous', null, null]]);
    expect((await ask(chain, NODES, bad)).status).to.equal(401);
    expect((await ask(chain, NODES)).status).to.equal(401);
  });

  it('lets an error family respond on its own paths', async () => {
    const chain = await start({
      authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
      handler: () => {
        throw newUnauthorized();
      },
      errorFamilies: [
        {
          claims: (path) => path.startsWith('/oauth/'),
          write: ({ response }) => void response.writeHead(400).end('{"error":"invalid_grant"}'),
        },
      ],
    });
    expect((await ask(chain, '/oauth/token')).body).to.equal('{"error":"invalid_grant"}');
    expect((await ask(chain, '/other')).status).to.equal(401);
    for (const malformed of ['/oauth/authorize?state=%ED%A0%80', '/oauth/authorize?a;b', '/oauth/./token']) {
      expect((await ask(chain, malformed)).body, malformed).to.equal('{"error":"invalid_grant"}');
    }
    expect(JSON.parse((await ask(chain, '/other?a;b=/oauth/')).body)).to.include({ reason: 'BadRequest' });
  });
});

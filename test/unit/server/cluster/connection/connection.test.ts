// Tests of the HTTP connection to kube-apiserver.
import { writeFile } from 'node:fs/promises';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import type { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { ClusterConnection } from '../../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../../server/cluster/connection/kubeconfig.ts';
import { ClusterReviews } from '../../../../../server/cluster/reviews.ts';
import { issue, issueServer, newCA } from '../../../../support/certificates.ts';
import {
  type Call,
  kubeConfigFor,
  kubeConfigText,
  ScriptedCluster,
  status,
} from '../../../../support/cluster/scripted-cluster.ts';
import { HeldPlugin } from '../../../../support/held-plugin.ts';
import { closeNow, listenOnLoopback } from '../../../../support/loopback.ts';
import { rejection } from '../../../../support/rejection.ts';
import { scratchFolderEach } from '../../../../support/scratch.ts';
import { until } from '../../../../support/until.ts';

const signal = new AbortController().signal;

describe('ClusterConnection', () => {
  const folder = scratchFolderEach();
  const ending: (() => Promise<unknown> | void)[] = [];

  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  async function connected(
    answer: (call: Call) => unknown,
    kubeConfigOf: (url: string) => () => KubeConfig = kubeConfigFor,
  ): Promise<{ cluster: ScriptedCluster; client: ClusterConnection }> {
    const cluster = await ScriptedCluster.start(answer);
    const client = cluster.connect(kubeConfigOf(cluster.url));
    ending.push(
      () => cluster.stop(),
      () => client.close(),
    );
    return { cluster, client };
  }

  it('sends no request on a connection whose protocol was switched', async () => {
    const sockets: unknown[] = [];
    const { client } = await connected(({ response: { socket } }) => {
      sockets.push(socket);
      socket?.write('HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
    for (const path of ['/apis/a.example/v1', '/apis/b.example/v1']) {
      expect(await rejection(client.json({ path, signal }))).to.have.property('code', 503);
    }
    expect(new Set(sockets).size).to.equal(2);
  });

  it('throws the Status of kube-apiserver with causes and retry delay', async () => {
    const details = {
      kind: 'nodes',
      causes: [{ reason: 'X', message: 'why', field: 'f' }],
      retryAfterSeconds: 3,
    };
    const body = JSON.stringify({ kind: 'Status', message: 'no', reason: 'Timeout', code: 504, details });
    const { client } = await connected(({ response }) => response.writeHead(504).end(body));
    const error = await rejection(client.json({ path: '/', signal }));
    expect(error).to.be.instanceOf(StatusError);
    expect(error).to.deep.include({ code: 504, reason: 'Timeout', message: 'no', details });
  });

  for (const [what, retryAfter, body, details] of [
    ['without a Status', '7', '<html>', { retryAfterSeconds: 7 }],
    [
      'with JSON that is no Status, and a date in Retry-After',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      '{"code":418,"reason":"Timeout","message":"what","details":{"name":"x"}}',
      undefined,
    ],
  ] as const) {
    it(`creates a StatusError from a response ${what}`, async () => {
      const { client } = await connected(({ response }) =>
        response.writeHead(403, { 'retry-after': retryAfter }).end(body),
      );
      const error = await rejection(client.json({ path: '/', signal }));
      expect(error).to.deep.include({ code: 403, reason: 'Forbidden', details });
      expect(error).to.have.property('message', 'kube-apiserver responded with 403');
    });
  }

  it('throws ServiceUnavailable with the cause when the connection is refused', async () => {
    const { client, cluster } = await connected(() => undefined);
    await cluster.stop();
    const error = await rejection(client.json({ path: '/', signal }));
    expect(error).to.deep.include({ code: 503, details: { retryAfterSeconds: 1 } });
    expect(error).to.have.nested.property('cause.code', 'ECONNREFUSED');
  });

  const part = '{"a":';
  for (const [what, answer, cause] of [
    ['no response', () => undefined, /^StalledError: no response within 1000 ms$/],
    [
      'a truncated body',
      ({ response }) => response.write(part, () => response.socket?.destroy()),
      /other side closed/,
    ],
    ['a stalled body', ({ response }) => response.write(part), /: no data received for 1000 ms$/],
    [
      'a stalled error',
      ({ response }) => response.writeHead(500).write(part),
      /: no data received for 1000 ms$/,
    ],
  ] as const satisfies readonly (readonly [string, (call: Call) => unknown, RegExp])[]) {
    it(`throws ServiceUnavailable for ${what}`, async () => {
      const { client } = await connected(answer);
      const error = await rejection(client.json({ path: '/', signal, timeoutMs: 1_000 }));
      expect(error).to.have.property('code', 503);
      expect(String(error.cause)).to.match(cause);
    });
  }

  it('throws ServiceUnavailable while a plugin returns no credentials, and works afterwards', async () => {
    const plugin = await HeldPlugin.make();
    ending.push(() => plugin.remove());
    const { cluster, client } = await connected(
      ({ response }) => response.end('{}'),
      (url) => kubeConfigFor(url, plugin.user),
    );
    const error = await rejection(client.json({ path: '/', signal, timeoutMs: 30 }));
    expect(error).to.deep.include({ code: 503, details: { retryAfterSeconds: 1 } });
    expect(error)
      .to.have.nested.property('cause.message')
      .that.matches(/^the exec plugin .* returned no credentials within 30 ms$/);
    const authenticated = client.authenticated();
    await plugin.release('late');
    await authenticated;
    expect(await client.json({ path: '/', signal })).to.deep.equal({});
    expect(cluster.calls.at(-1)?.request.headers).to.include({ authorization: 'Bearer late' });
  });

  it('releases a 401 response when the credentials cannot be renewed', async () => {
    let requested = 0;
    const { cluster, client } = await connected(
      ({ response }) => response.writeHead(401).write(status(401, 'Unauthorized')),
      (url) => () => {
        if (requested++ > 0) throw new Error('no more');
        return kubeConfigFor(url)();
      },
    );
    const error = await rejection(client.open({ path: '/', signal }));
    expect(error).to.have.nested.property('cause.message', 'no more');
    const socket = cluster.calls.at(-1)?.request.socket;
    await until(() => socket?.destroyed === true);
  });

  it('retries a read, also a review, but never a write, on a closed idle connection', async () => {
    const { client, cluster } = await connected(({ response, request }) => {
      const used = (request.socket as { used?: boolean }).used === true;
      Object.assign(request.socket, { used: true });
      if (used) request.socket.destroy();
      else response.writeHead(200).end('{}');
    });
    await client.json({ path: '/first', signal });
    await new Promise(setImmediate);
    await client.json({ path: '/read', signal });
    await new Promise(setImmediate);
    const token = await new ClusterReviews(client).reviewToken('t', signal);
    expect(token.user).to.equal(undefined);
    const review = '/apis/authentication.k8s.io/v1/tokenreviews';
    expect(cluster.calls.map(({ url }) => url.pathname)).to.deep.equal([
      ...['/first', '/read', '/read', review, review],
    ]);
    await new Promise(setImmediate);
    expect(
      await rejection(client.json({ path: '/write', method: 'POST', json: {}, signal })),
    ).to.have.property('code', 503);
    expect(cluster.calls.filter(({ url }) => url.pathname === '/write')).to.have.length(1);
  });

  it('uses a rotated token after the refresh interval, or at once after a 401', async () => {
    const file = join(folder(), 'kubeconfig');
    let now = 0;
    const seen: (string | undefined)[] = [];
    let refused = '';
    const { cluster } = await connected(({ request, response }) => {
      const token = request.headers.authorization;
      seen.push(token);
      if (token === refused) response.writeHead(401).end(status(401, 'Unauthorized'));
      else response.writeHead(200).end('{}');
    });
    const write = (token: string) => writeFile(file, kubeConfigText(cluster.url, { token }));
    await write('one');
    const clock = { refreshMs: 100, now: () => now };
    const client = new ClusterConnection({ kubeConfig: kubeConfigSource(file), ...clock });
    ending.push(() => client.close());
    await client.json({ path: '/', signal });
    await write('two');
    await client.json({ path: '/', signal });
    now = 200;
    await client.json({ path: '/', signal });
    await write('three');
    refused = 'Bearer two';
    await client.json({ path: '/', signal });
    expect(seen).to.deep.equal(['Bearer one', 'Bearer one', 'Bearer two', 'Bearer two', 'Bearer three']);
    refused = 'Bearer three';
    expect(await rejection(client.json({ path: '/', signal }))).to.have.property('code', 401);
    // Rejected credentials are not sent again.
    expect(seen).to.have.length(6);
  });

  it('verifies the server, and presents a rotated client certificate on new connections', async () => {
    const ca = await newCA('cluster');
    const serving = await issueServer(ca);
    const names: string[] = [];
    const server = createSecureServer(
      { cert: serving.cert, key: serving.key, ca: ca.cert, requestCert: true },
      (request, response) => {
        names.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN));
        response.end('{}');
      },
    );
    // An open connection stays open until the end of the test.
    server.keepAliveTimeout = 0;
    const port = await listenOnLoopback(server);
    ending.push(() => closeNow(server));
    const file = join(folder(), 'kubeconfig');
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const write = async (cn: string, authority = ca.cert) => {
      const { cert, key } = await issue(ca, { cn });
      const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
      const trust = { 'certificate-authority-data': base64(authority) };
      await writeFile(file, kubeConfigText(`https://127.0.0.1:${port}`, user, trust));
    };
    const client = new ClusterConnection({ kubeConfig: kubeConfigSource(file), refreshMs: 0 });
    ending.push(() => client.close());
    await write('first');
    await client.json({ path: '/', signal });
    await client.json({ path: '/', signal });
    await write('second');
    await client.json({ path: '/', signal });
    expect(names).to.deep.equal(['first', 'first', 'second']);
    // The connection of the first request is closed too.
    await until(async () => (await promisify(server.getConnections.bind(server))()) === 1);
    await write('third', (await newCA('another')).cert);
    expect(await rejection(client.json({ path: '/', signal }))).to.have.property('code', 503);
    expect(names).to.have.length(3);
  });
});

// Tests of the connector, which limits concurrent TLS handshakes.
import { createServer as createSecureServer } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { issue } from '../../../support/certificates.ts';
import { kubeConfigFor } from '../../../support/cluster/scripted-cluster.ts';
import { FakeTimers } from '../../../support/fake-timers.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { until } from '../../../support/until.ts';

/** Maximum number of concurrent TLS handshakes for one class of requests. Two more are reserved for other classes. */
const HANDSHAKES = 4;

describe('Connector', () => {
  const ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  function connect(port: number, user: object = {}): ClusterConnection {
    const client = new ClusterConnection({ kubeConfig: kubeConfigFor(`https://127.0.0.1:${port}`, user) });
    ending.push(() => client.close());
    return client;
  }

  it('limits concurrent handshakes and serves every request', async () => {
    const { cert, key } = await issue(undefined, { cn: 'kube-apiserver' });
    let shaking = 0;
    let most = 0;
    const held: (() => void)[] = [];
    const server = createSecureServer({ cert, key }, (_request, response) => {
      // Responds when all requests have arrived, so that each needs a connection.
      held.push(() => response.end('{}'));
      if (held.length === 60) for (const answer of held) answer();
    });
    server.on('connection', () => {
      shaking++;
      most = Math.max(most, shaking);
    });
    server.on('secureConnection', () => shaking--);
    const client = connect(await listenOnLoopback(server));
    ending.push(() => closeNow(server));
    const { signal } = new AbortController();
    const answers = await Promise.all(Array.from({ length: 60 }, () => client.json({ path: '/', signal })));
    expect(answers).to.deep.equal(Array.from({ length: 60 }, () => ({})));
    // The client may finish a handshake before the server does, so the server can count more.
    expect(most).to.be.at.most(2 * HANDSHAKES);
  });

  it('releases the slot of an unanswered handshake after a while', async () => {
    const accepted: Socket[] = [];
    // Accepts connections and never responds.
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      ending.push(() => socket.destroy());
      accepted.push(socket);
    });
    const client = connect(await listenOnLoopback(server));
    ending.push(() => server.close());
    using timers = new FakeTimers();
    const asking = new AbortController();
    const requested = Array.from({ length: HANDSHAKES + 1 }, () =>
      client.json({ path: '/', signal: asking.signal }).catch(() => undefined),
    );
    while (accepted.length < HANDSHAKES) await nextTurn();
    await timers.tick(249);
    expect(accepted).to.have.length(HANDSHAKES);
    await timers.tick(1);
    while (accepted.length === HANDSHAKES) await nextTurn();
    asking.abort();
    await Promise.all(requested);
  });

  it('connects other requests while many of one class wait', async () => {
    const { cert, key } = await issue(undefined, { cn: 'kube-apiserver' });
    const held: (() => void)[] = [];
    const server = createSecureServer({ cert, key }, ({ url }, response) => {
      if (url === '/review') response.end('{}');
      else held.push(() => response.end('{}'));
    });
    const client = connect(await listenOnLoopback(server));
    ending.push(() => closeNow(server));
    const { signal } = new AbortController();
    const crowd = Array.from({ length: 100 }, () => client.json({ path: '/log', crowd: 'logs', signal }));
    await client.json({ path: '/review', signal });
    expect(held.length).to.be.below(50);
    await until(() => held.length === crowd.length);
    for (const answer of held) answer();
    await Promise.all(crowd);
  });

  it('reports a key that does not match its certificate, for each connection', async () => {
    const [{ cert }, { key }] = [await issue(undefined, { cn: 'a' }), await issue(undefined, { cn: 'b' })];
    const pair = [cert, key].map((pem) => Buffer.from(pem).toString('base64'));
    const client = connect(1, { certData: pair[0], keyData: pair[1] });
    const { signal } = new AbortController();
    const requested = Array.from({ length: HANDSHAKES + 1 }, () => client.json({ path: '/', signal }));
    for (const { status, reason } of (await Promise.allSettled(requested)) as PromiseRejectedResult[]) {
      expect([status, String(reason.cause)]).to.match(/^rejected,.*key values mismatch/);
    }
  });
});

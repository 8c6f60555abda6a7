// HTTPS proxy between ks-apiserver and kube-apiserver that injects faults into the watches of the server itself. All
// other requests pass without faults: the requests of callers, and the reads of the server.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request, type Server } from 'node:https';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import type { KeyPair } from '../control-plane/certificate-authority.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { writeKubeconfig } from '../control-plane/kubeconfig.ts';
import { SERVICE_ACCOUNT } from '../extension/registration.ts';
import { Random } from '../log-data/random.ts';
import { freePort } from '../system/ports.ts';

interface Identity {
  readonly serving: KeyPair;
  /** Client certificate of ks-apiserver, for its own requests. */
  readonly pair: KeyPair;
  readonly seed: number;
}

/** Mean time in ms between two faults of a watch: a stall or a closed connection. */
const CALM_MS = 4_000;
const STALL_MS = 2_000;
const DELAY_MS = 15;

export class FaultyWatches {
  /** Path of a kubeconfig of the server that contains the URL of the proxy. */
  readonly kubeconfig: string;
  readonly counts = { delays: 0, stalls: 0, cuts: 0, expirations: 0 };
  /** Number of open watches of the server itself, by path, and by field selector for those of a single object. */
  readonly open = new Map<string, number>();
  #active = false;
  readonly #target: string;
  readonly #random: Random;
  readonly #own: Agent;
  readonly #callers: Agent;
  readonly #server: Server;

  private constructor(kubeconfig: string, { url, ca }: ControlPlane, { serving, pair, seed }: Identity) {
    this.kubeconfig = kubeconfig;
    this.#target = url;
    this.#random = new Random(seed);
    this.#own = new Agent({ keepAlive: true, ca, ...pair });
    this.#callers = new Agent({ keepAlive: true, ca });
    const tls = { ...serving, ca, requestCert: true, rejectUnauthorized: false };
    this.#server = createServer(tls, (incoming, outgoing) => this.#forward(incoming, outgoing));
    // Like kube-apiserver, it does not close the idle connections of the server.
    this.#server.keepAliveTimeout = 0;
  }

  /** `dir`: the folder of the kubeconfig. `seed`: of the random faults. */
  static async start(controlPlane: ControlPlane, dir: string, seed: number): Promise<FaultyWatches> {
    const { pki, ca } = controlPlane;
    const { name: user, groups } = SERVICE_ACCOUNT;
    const [port, serving, pair] = await Promise.all([
      freePort(),
      pki.cluster.issueServer({ cn: 'faulty-watches' }, { dns: ['localhost'], ip: ['127.0.0.1'] }),
      pki.issueClient({ cn: user, o: groups }),
    ]);
    const kubeconfig = await writeKubeconfig(join(dir, 'faulty-watches.kubeconfig'), {
      cluster: 'faulty-watches',
      url: `https://127.0.0.1:${port}`,
      ca,
      user,
      pair,
    });
    const proxy = new FaultyWatches(kubeconfig, controlPlane, { serving, pair, seed });
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return proxy;
  }

  /** Starts to inject faults. */
  begin(): void {
    this.#active = true;
  }

  end(): void {
    this.#active = false;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#own.destroy();
    this.#callers.destroy();
  }

  #forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url = '/', headers, socket } = incoming;
    const isOwn = socket instanceof TLSSocket && socket.authorized;
    const { pathname, searchParams: query } = new URL(url, this.#target);
    const isWatch = isOwn && query.has('watch');
    const isFaulty = isWatch && pathname === '/api/v1/configmaps';
    if (isWatch) {
      const watched = [pathname, ...query.getAll('fieldSelector')].join(' ');
      this.#count(watched, 1);
      outgoing.on('close', () => this.#count(watched, -1));
    }
    if (isFaulty && this.#active && query.has('resourceVersion') && this.#random.chance(0.3)) {
      this.counts.expirations++;
      outgoing.writeHead(410, { 'content-type': 'application/json' }).end(EXPIRED);
      return;
    }
    const agent = isOwn ? this.#own : this.#callers;
    const sent = request(new URL(url, this.#target), { agent, method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers).flushHeaders();
      if (!isFaulty) response.pipe(outgoing);
      else void this.#spoil(response, outgoing).catch(() => outgoing.destroy());
      response.on('error', () => outgoing.destroy());
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  }

  #count(watched: string, change: 1 | -1): void {
    this.open.set(watched, (this.open.get(watched) ?? 0) + change);
  }

  /** Forwards a watch with faults. The order of the events is kept. */
  async #spoil(response: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const random = this.#random;
    let next = performance.now() + random.below(CALM_MS);
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (this.#active && random.chance(0.2)) {
        this.counts.delays++;
        await delay(random.below(DELAY_MS));
      }
      if (this.#active && performance.now() > next) {
        next = performance.now() + random.below(2 * CALM_MS);
        if (random.chance(0.3)) {
          this.counts.cuts++;
          // The cut can be in the middle of an event.
          outgoing.write(chunk.subarray(0, random.below(chunk.length)), () => outgoing.destroy());
          return;
        }
        this.counts.stalls++;
        await delay(random.below(STALL_MS));
      }
      outgoing.write(chunk);
    }
    outgoing.end();
  }
}

const EXPIRED = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
});

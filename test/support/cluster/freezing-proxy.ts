import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback, portOf } from '../loopback.ts';

/** A slow network: latency of a round trip, and packet loss, which delays all later data by a retransmission. */
interface Impairment {
  readonly roundTripMs: number;
  /** One of this number of chunks is lost. */
  readonly lossOneIn: number;
  readonly retransmissionMs: number;
}

/** TCP proxy that simulates network failures: stalled connections, broken connections and truncated streams. */
export class FreezingProxy {
  readonly #server: Server;
  #targetPort: number;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  #frozen = false;
  #cutAfter = Number.POSITIVE_INFINITY;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  #impairment: Impairment | undefined;

  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: false }, (client) => this.#join(client, this.#targetPort));
  }

  static async start(targetPort: number): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(targetPort);
    await listenOnLoopback(proxy.#server);
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** Stops the data of all current connections, which stay open. New connections work. */
  freeze(): void {
    for (const [client, upstream] of this.#pairs) {
      upstream.removeAllListeners('data').removeAllListeners('end').pause();
      client.removeAllListeners('data').pause();
    }
  }

  /** Accepts new connections without delivering data, until `thaw`. */
  freezeNew(): void {
    this.#frozen = true;
  }

  thaw(): void {
    this.#frozen = false;
  }

  /** Closes each further connection after this number of bytes from the server. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes;
  }

  /** Connects further connections to another port. */
  redirect(targetPort: number): void {
    this.#targetPort = targetPort;
  }

  /** Limits the throughput of further connections. */
  throttle(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Delays the data of further connections. Undefined stops it. */
  impair(impairment: Impairment | undefined): void {
    this.#impairment = impairment;
  }

  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #join(client: Socket, targetPort: number): void {
    const upstream = connect(targetPort, '127.0.0.1');
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const gone = () => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of pair) socket.on('error', gone).on('close', gone);
    if (this.#frozen) return;
    let left = this.#cutAfter;
    const pace = this.#bytesPerSecond;
    const [up, down] = [delivery(this.#impairment), delivery(this.#impairment)];
    client.on('data', (chunk) => up(() => upstream.write(chunk)));
    upstream.on('data', (chunk) => {
      left -= chunk.length;
      if (left <= 0) {
        gone();
        return;
      }
      down(() => client.write(chunk));
      if (pace === Number.POSITIVE_INFINITY) return;
      upstream.pause();
      setTimeout(() => upstream.resume(), (chunk.length / pace) * 1000);
    });
    upstream.on('end', () => down(() => client.end()));
  }
}

/** Returns a function that makes the calls of one direction in order: at once, or when the data would arrive. */
function delivery(impairment: Impairment | undefined): (call: () => void) => void {
  if (!impairment) return (call) => call();
  const { roundTripMs, lossOneIn, retransmissionMs } = impairment;
  const calls: (() => void)[] = [];
  let sent = 0;
  let due = 0;
  return (call) => {
    calls.push(call);
    const delay = roundTripMs / 2 + (++sent % lossOneIn === 0 ? retransmissionMs : 0);
    due = Math.max(due, performance.now() + delay);
    setTimeout(() => calls.shift()?.(), due - performance.now());
  };
}

// Starts the filter chain behind a TLS socket, for unit tests.
import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { type Logger, pino } from 'pino';
import { type AppOptions, newApp } from '../../../../server/app.ts';
import type { Authenticator } from '../../../../server/authentication/authenticator.ts';
import { ANONYMOUS, type UserInfo } from '../../../../server/authentication/user.ts';
import type { Authorizer } from '../../../../server/authorization/authorizer.ts';
import { delegatingAuthorizer } from '../../../../server/authorization/delegating-authorizer.ts';
import type { AuditEvent } from '../../../../server/filters/audit.ts';
import type { RequestLabels } from '../../../../server/filters/request-metrics.ts';
import { ApiResponse } from '../../../../server/http/api-response.ts';
import type { Handler } from '../../../../server/request/request-context.ts';
import { type Issued, issueServer, newCA } from '../../../support/certificates.ts';
import { type Answer, exchange } from '../../../support/exchange.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { PLAIN_CHAIN } from '../../../support/open-chain.ts';
import { requestPools } from '../../../support/request-pools.ts';
import { everyPath, onlyFeature } from '../../../support/routed.ts';

export const NODES = '/apis/resources.platform.io/v1alpha3/nodes';

interface Observed {
  readonly labels: RequestLabels;
  readonly code: number;
  /** Undefined for a stream. */
  readonly seconds?: number;
}

/** A filter chain behind a real TLS socket, and its recorded log lines, metrics and audit events. */
export type ChainFixture = Awaited<ReturnType<typeof startChain>>;

export const alice: UserInfo = { name: 'alice', uid: '', groups: ['system:authenticated'], extra: {} };

/** Takes the user name from the header `test-user`, because these tests are not about authentication. */
const byHeader: Authenticator = {
  name: 'test',
  authenticate: ({ request }) => {
    const name = request.headers['test-user'];
    return name === undefined ? ANONYMOUS : { ...alice, name: String(name) };
  },
};

const allowAlice: Authorizer = delegatingAuthorizer(
  { authorize: ({ user }) => ({ allowed: user.name === 'alice', reason: '' }) },
  () => false,
);

let authority: Promise<{ ca: Issued; server: Issued }> | undefined;

async function certificates(): Promise<{ ca: Issued; server: Issued }> {
  const ca = await newCA('server CA');
  return { ca, server: await issueServer(ca) };
}

export async function startChain({
  handler,
  ...options
}: Partial<AppOptions> & { readonly handler: Handler }) {
  authority ??= certificates();
  const { ca, server: pair } = await authority;
  const abort = new AbortController();
  const lines: Record<string, unknown>[] = [];
  const observed: Observed[] = [];
  const terminated: number[] = [];
  const audited: AuditEvent[] = [];
  const gauges = { readOnly: 0, mutating: 0, longRunning: 0 };
  const chain = newApp({
    ...PLAIN_CHAIN,
    routers: onlyFeature(everyPath(handler)),
    resources: handler,
    authenticator: byHeader,
    identityHeaders: () => ['x-remote-'],
    authorizer: allowAlice,
    logger: recordingLogger(lines),
    metrics: {
      observe: (labels, code, seconds) => observed.push({ labels, code, seconds }),
      count: (labels, code) => observed.push({ labels, code }),
      terminated: (_verb, code) => terminated.push(code),
      inflight: (kind, change) => {
        gauges[kind] += change;
      },
      longRunning: (_labels, change) => {
        gauges.longRunning += change;
      },
    },
    knownResource: (group, _version, resource) => group === 'resources.platform.io' && resource === 'nodes',
    audit: { record: (event) => audited.push(event) },
    pools: requestPools(),
    limits: { maxBodyBytes: 1000, timeoutMs: 60_000 },
    signal: abort.signal,
    ...options,
  });
  const server = createServer({
    ServerResponse: ApiResponse,
    cert: pair.cert,
    key: pair.key,
    requireHostHeader: false,
  });
  server.on('request', (request, response) => chain.serve(request, response, true));
  server.on('upgrade', (request, socket, head) => chain.serveUpgrade(request, socket, head, true));
  const port = await listenOnLoopback(server);
  const stop = (): Promise<void> => closeNow(server);
  return { chain, port, ca, lines, observed, terminated, gauges, audited, abort, stop };
}

/** Returns a function that starts a filter chain, for a group of tests. Each chain stops after its test. */
export function chainEach(): typeof startChain {
  const started: ChainFixture[] = [];
  afterEach(() => Promise.all(started.splice(0).map((chain) => chain.stop())));
  return async (options) => {
    const chain = await startChain(options);
    started.push(chain);
    return chain;
  };
}

function recordingLogger(lines: Record<string, unknown>[]): Logger {
  return pino(
    { level: 'debug' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** Sends one request on a new connection. */
export function ask(
  { port, ca }: ChainFixture,
  path: string,
  { body, ...options }: Ask = {},
): Promise<Answer> {
  return exchange(port, { path, ca: ca.cert, ...options }, body);
}

/** A bare TLS connection, for requests that no client library would send. */
export async function rawConnection(fixture: ChainFixture): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port: fixture.port,
    ca: fixture.ca.cert,
    servername: 'localhost',
  });
  await once(socket, 'secureConnect');
  return socket;
}

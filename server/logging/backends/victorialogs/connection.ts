// HTTP connection to VictoriaLogs with TLS, credentials and tenant. A request that fails on a stale connection is
// retried. Callers build the queries.
import { Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { isIP } from 'node:net';
import { CredentialFiles, type CredentialOptions, type Credentials, Silence } from '../store-connection.ts';
import { STORE } from './store-error.ts';

export interface ConnectionOptions extends CredentialOptions {
  /** `http://…` or `https://…`. The paths of the store are below the path of the URL. */
  readonly url: string;
  /** `accountID` and `projectID` identify the tenant. */
  readonly accountID?: number;
  readonly projectID?: number;
  readonly now: () => number;
}

/** Fields of a form; a list is one field per value. */
export type Form = Readonly<Record<string, string | readonly string[]>>;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #credentials: CredentialFiles;
  readonly #target: Target;
  readonly #silence: Silence;
  #agent: { readonly ca: string | undefined; readonly agent: Agent } | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#credentials = new CredentialFiles(STORE, options, options.now);
    this.#target = targetOf(options.url);
    this.#silence = new Silence(options.now);
  }

  /** Time in ms without a response to any request; 0 while the store may only be slow. */
  get silentMs(): number {
    return this.#silence.ms;
  }

  /**
   * Sends a form. Returns the response, with any status; the caller reads or destroys it. Aborting `signal` closes the
   * connection, which cancels the query in the store.
   */
  async post(path: string, form: Form, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await this.#credentials.read();
    const body = encoded(form);
    try {
      return await this.#send(path, body, credentials, signal);
    } catch (error) {
      // The store closed the idle connection at the same moment, and did not process the request.
      if (!(error instanceof StaleConnectionError) || signal.aborted) throw error;
      return await this.#send(path, body, credentials, signal);
    }
  }

  close(): void {
    this.#agent?.agent.destroy();
  }

  #send(path: string, body: string, credentials: Credentials, signal: AbortSignal): Promise<IncomingMessage> {
    const { accountID = 0, projectID = 0 } = this.#options;
    const { isSecure, prefix, ...target } = this.#target;
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(body),
      // Compression costs the store more CPU time than it saves, and delays the records of live tails.
      'accept-encoding': 'identity',
      ...(accountID === 0 && projectID === 0
        ? {}
        : { accountid: String(accountID), projectid: String(projectID) }),
      ...(credentials.authorization === undefined ? {} : { authorization: credentials.authorization }),
    };
    const request = isSecure ? requestSecure : requestPlain;
    const agent = this.#agentFor(isSecure, credentials.ca);
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason;
      const options = { ...target, path: `${prefix}${path}`, method: 'POST', headers, agent };
      this.#silence.requestSent();
      const sent: ClientRequest = request(options, (response) => {
        this.#silence.responded();
        resolve(response);
      });
      const abort = (): void =>
        void sent.destroy(new Error('the request was cancelled', { cause: signal.reason }));
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.on('error', (error) => {
        const isStale = sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
        reject(isStale ? new StaleConnectionError(error) : error);
      });
      sent.end(body);
    });
  }

  /** Returns the agent for a CA. A changed CA needs a new agent, so that connections that trust the old CA are not reused. */
  #agentFor(isSecure: boolean, ca: string | undefined): Agent {
    if (this.#agent?.ca === ca && this.#agent) return this.#agent.agent;
    this.#agent?.agent.destroy();
    const agent = isSecure
      ? new SecureAgent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) })
      : new Agent({ keepAlive: true });
    this.#agent = { ca, agent };
    return agent;
  }
}

/** The URL as request options. It is parsed once, because parsing it for each request would double the cost of a request. */
interface Target {
  readonly isSecure: boolean;
  readonly hostname: string;
  /** For SNI (RFC 6066, 3); empty for an IP address. */
  readonly servername: string;
  readonly port: string;
  readonly prefix: string;
}

function targetOf(url: string): Target {
  const { protocol, hostname: name, port, pathname } = new URL(url);
  // Only URLs have brackets around an IPv6 address.
  const hostname = name.replace(/^\[(.*)\]$/, '$1');
  return {
    isSecure: protocol === 'https:',
    hostname,
    servername: isIP(hostname) === 0 ? hostname : '',
    port,
    prefix: pathname.replace(/\/$/, ''),
  };
}

class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super('the idle connection was closed', { cause });
    this.name = 'StaleConnectionError';
  }
}

function encoded(form: Form): string {
  const body = new URLSearchParams();
  for (const [name, values] of Object.entries(form)) {
    for (const value of typeof values === 'string' ? [values] : values) body.append(name, value);
  }
  return body.toString();
}

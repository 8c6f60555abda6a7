// One request to VictoriaLogs and what comes back. Knows HTTP, TLS and who we are; knows nothing of LogsQL.
import { Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import { isIP } from 'node:net';
import { CredentialFiles, type CredentialOptions, type Credentials } from '../../credential-files.ts';
import { Silence } from '../../silence.ts';
import { STORE } from './refusal.ts';

export interface ConnectionOptions extends CredentialOptions {
  /** `http://…` or `https://…`; a path in it comes before the store's own. */
  readonly url: string;
  /** Tenant. */
  readonly accountID?: number;
  readonly projectID?: number;
  readonly now: () => number;
}

/** Arguments of a request; several values of one name stay several. */
export type Arguments = Readonly<Record<string, string | readonly string[]>>;

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

  /** For how long the store has answered nobody. */
  get silentMs(): number {
    return this.#silence.ms;
  }

  /**
   * The answer, whatever its status; the caller reads or destroys it. Aborting `signal` closes the connection, which
   * ends the work in the store.
   */
  async post(path: string, args: Arguments, signal: AbortSignal): Promise<IncomingMessage> {
    const credentials = await this.#credentials.read();
    const body = encoded(args);
    try {
      return await this.#send(path, body, credentials, signal);
    } catch (error) {
      // The store may close an idle connection at the moment we use it; nothing has happened then.
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
      // Packing costs the store several times what it saves, and holds lines back that are followed.
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
      this.#silence.asked();
      const sent: ClientRequest = request(options, (answer) => {
        this.#silence.broken();
        resolve(answer);
      });
      const abort = (): void =>
        void sent.destroy(new Error('the request was given up', { cause: signal.reason }));
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.on('error', (error) => {
        const isStale = sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
        reject(isStale ? new StaleConnectionError(error) : error);
      });
      sent.end(body);
    });
  }

  /** A new one when the CA has changed: connections that trusted the old one are not used again. */
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

/** The URL in the words of Node, once for all requests: taking it apart costs as much as all else of one here. */
interface Target {
  readonly isSecure: boolean;
  readonly hostname: string;
  /** For TLS, which knows no addresses; empty for these. */
  readonly servername: string;
  readonly port: string;
  /** What comes before the store's own paths. */
  readonly prefix: string;
}

function targetOf(url: string): Target {
  const { protocol, hostname: name, port, pathname } = new URL(url);
  // An IPv6 address has brackets in a URL only.
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
    super('an idle connection was closed', { cause });
    this.name = 'StaleConnectionError';
  }
}

function encoded(args: Arguments): string {
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(args)) {
    for (const value of typeof values === 'string' ? [values] : values) form.append(name, value);
  }
  return form.toString();
}

// Sends HTTP requests to VictoriaLogs. Each request is a POST of a form, with the tenant in the headers.
import type { IncomingMessage } from 'node:http';
import { type CredentialOptions, StoreConnection } from '../store-connection.ts';
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
  readonly #connection: StoreConnection;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ url, accountID = 0, projectID = 0, now, ...credentials }: ConnectionOptions) {
    this.#connection = new StoreConnection(STORE, [url], credentials, now);
    this.#headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(accountID === 0 && projectID === 0
        ? {}
        : { accountid: String(accountID), projectid: String(projectID) }),
    };
  }

  /** Time in ms without a response to any request; 0 while the store may only be slow. */
  get silentMs(): number {
    return this.#connection.silentMs;
  }

  /** Sends a form, as StoreConnection.send(). */
  post(path: string, form: Form, signal: AbortSignal): Promise<IncomingMessage> {
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(form)) {
      for (const value of typeof values === 'string' ? [values] : values) body.append(name, value);
    }
    const request = { method: 'POST', path, headers: this.#headers, body: body.toString() } as const;
    return this.#connection.send(request, signal);
  }

  close(): void {
    this.#connection.close();
  }
}

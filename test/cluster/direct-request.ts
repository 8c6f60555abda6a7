// HTTPS request to a pod, Service or NodePort of the real cluster, with the name in the serving certificate.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { SERVER_NAME } from '../../hack/cluster/cluster.ts';

export interface DirectRequest {
  readonly address: string;
  readonly port?: number;
  /** CA of the server, PEM. */
  readonly ca: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of a form; the method is POST then. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface DirectResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export async function directRequest(options: DirectRequest): Promise<DirectResponse> {
  const { address, port = 443, ca, path, headers = {}, form } = options;
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const outgoing = request({
    host: address,
    port,
    servername: SERVER_NAME,
    ca,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: { host: SERVER_NAME, ...(body === undefined ? {} : type), ...headers },
    agent: false,
  });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

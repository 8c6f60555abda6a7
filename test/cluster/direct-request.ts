// HTTPS request to a pod, Service or NodePort of the real cluster, with the name in the serving certificate.
import { SERVER_NAME } from '../../hack/cluster/cluster.ts';
import { type Answer, exchange } from '../support/exchange.ts';

export interface DirectRequest {
  readonly address: string;
  readonly port?: number;
  /** DNS name in the serving certificate. */
  readonly serverName?: string;
  /** CA of the server, PEM. */
  readonly ca: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of a form; the method is POST then. */
  readonly form?: Readonly<Record<string, string>>;
}

export function directRequest(options: DirectRequest): Promise<Answer> {
  const { address, port = 443, serverName = SERVER_NAME, ca, path, headers = {}, form } = options;
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const request = {
    host: address,
    servername: serverName,
    ca,
    path,
    method: body === undefined ? 'GET' : 'POST',
    headers: { host: serverName, ...(body === undefined ? {} : type), ...headers },
  };
  return exchange(port, request, body);
}

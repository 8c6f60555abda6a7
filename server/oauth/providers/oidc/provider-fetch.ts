// Fetch function for requests to an OpenID provider: bounded responses, no redirects, and the CA of the provider.
import type { CustomFetch } from 'openid-client';
import { assertBoundedJSON } from '../../../../apis/reading/bounded-json.ts';
import { NEVER_ABORTED } from '../../../concurrency/aborted.ts';
import { boundedSignal } from '../../../concurrency/bounded-signal.ts';
import { readCAFile } from '../../../files/text-file.ts';
import { ConnectionPool } from '../../../upstream/connection-pool.ts';
import { abortableBy, send } from '../../../upstream/send.ts';
import { REQUEST_MS } from '../provider.ts';

/** Maximum size in bytes of a response. Metadata, keys and tokens have a few kilobytes; a person may have many groups. */
const MAX_RESPONSE = 1 << 20;
/** The metadata of a provider names a few hosts. */
const MAX_ORIGINS = 8;

/** The CA is read again for each new connection pool, that is, for each discovery of the provider. */
export async function providerFetch(caFile: string): Promise<CustomFetch> {
  const tls = caFile === '' ? {} : { ca: await readCAFile(caFile) };
  const pools = new Map<string, ConnectionPool>();
  return async (target, { method, headers, body, signal }) => {
    const url = new URL(target);
    let pool = pools.get(url.origin);
    if (!pool) {
      if (pools.size >= MAX_ORIGINS) throw new Error('the metadata of the provider names too many hosts');
      pool = new ConnectionPool({ url, tls });
      pools.set(url.origin, pool);
    }
    using bounded = boundedSignal(signal ?? NEVER_ABORTED, REQUEST_MS);
    const response = await send(pool, {
      method,
      path: `${url.pathname}${url.search}`,
      headers: Object.entries(headers).flat(),
      body: textOf(body),
      isRead: method === 'GET',
      crowd: '',
      work: abortableBy(bounded.signal),
    });
    const bytes = await response.bytes({
      maxBytes: MAX_RESPONSE,
      tooLong: () => new Error(`the response of ${url.host} is longer than ${MAX_RESPONSE} bytes`),
    });
    // The OpenID client parses it.
    assertBoundedJSON(bytes);
    const names = Object.entries(response.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    return new Response(hasBody(response.statusCode) ? new Uint8Array(bytes) : null, {
      status: response.statusCode,
      headers: names,
    });
  };
}

function textOf(body: Parameters<CustomFetch>[1]['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return body.toString();
  throw new TypeError('only forms are sent to a provider');
}

/** A Response of these statuses must not have a body. */
function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

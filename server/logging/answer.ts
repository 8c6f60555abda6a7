import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip, GZIP_THRESHOLD } from '../endpoints/rest/content-encoding.ts';
import type { RequestContext } from '../filters/request-context.ts';

const compress = promisify(gzip);

/** One JSON answer, compressed when it is long. Logs are not to be kept by caches on the way. */
export async function writeAnswer({ request, response }: RequestContext, answer: object): Promise<void> {
  const plain = Buffer.from(`${JSON.stringify(answer)}\n`);
  const compressed = plain.length > GZIP_THRESHOLD && acceptsGzip(request);
  const body = compressed ? await compress(plain) : plain;
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

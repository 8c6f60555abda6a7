import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip, GZIP_THRESHOLD } from '../../endpoints/rest/content-encoding.ts';
import type { RequestContext } from '../../request/request-context.ts';

const compress = promisify(gzip);

/** One JSON answer, compressed when it is long. Caches on the way must not keep logs. */
export async function writeAnswer({ request, response }: RequestContext, answer: object): Promise<void> {
  const plain = `${JSON.stringify(answer)}\n`;
  const length = Buffer.byteLength(plain);
  const compressed = length > GZIP_THRESHOLD && acceptsGzip(request) ? await compress(plain) : undefined;
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': compressed?.length ?? length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding, Origin',
    ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  // A text goes out in one piece with the head.
  response.end(request.method === 'HEAD' ? undefined : (compressed ?? plain));
}

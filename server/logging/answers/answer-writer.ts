import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip, GZIP_THRESHOLD } from '../../endpoints/content-encoding.ts';
import type { HeldAnswers } from '../../endpoints/held-answers.ts';
import { PIECE } from '../../endpoints/response.ts';
import type { RequestContext } from '../../request/request-context.ts';

const compress = promisify(gzip);

/**
 * One JSON answer, compressed when it is long. Caches on the way must not keep logs. Resolves when it is on its way: what
 * its reader leaves waiting is up to `held`.
 */
export async function writeAnswer(
  context: RequestContext,
  answer: object,
  held: Pick<HeldAnswers, 'write'>,
): Promise<void> {
  const { request, response } = context;
  const plain = `${JSON.stringify(answer)}\n`;
  const length = Buffer.byteLength(plain);
  const compressed = length > GZIP_THRESHOLD && acceptsGzip(request) ? await compress(plain) : undefined;
  const size = compressed?.length ?? length;
  const writeHead = (): void => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': size,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      Vary: 'Accept-Encoding, Origin',
      ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
  if (size > PIECE && request.method !== 'HEAD') {
    return held.write(context, compressed ?? Buffer.from(plain), writeHead);
  }
  writeHead();
  // A text goes out in one piece with the head.
  response.end(request.method === 'HEAD' ? undefined : (compressed ?? plain));
}

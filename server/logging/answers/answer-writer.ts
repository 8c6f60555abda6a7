import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Turns } from '../../concurrency/turns.ts';
import type { BufferedResponses } from '../../endpoints/buffered-responses.ts';
import { acceptsGzip, GZIP_THRESHOLD, PIECE } from '../../endpoints/response.ts';
import type { RequestContext } from '../../request/request-context.ts';
import { encodedAnswer } from './encoded-answer.ts';

const compress = promisify(gzip);

export interface AnswerWriterOptions {
  readonly held: Pick<BufferedResponses, 'write'>;
  /** In which a long answer is encoded. */
  readonly turns: Turns;
}

/**
 * One JSON answer, compressed when it is long. Caches on the way must not keep logs. Resolves when it is on its way: what
 * its reader leaves waiting is up to `held`.
 */
export async function writeAnswer(
  context: RequestContext,
  answer: object,
  { held, turns }: AnswerWriterOptions,
): Promise<void> {
  const { request, response, signal } = context;
  const plain = await encodedAnswer(answer, { turns, signal });
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
    return held.write(
      context,
      compressed ?? (typeof plain === 'string' ? Buffer.from(plain) : plain),
      writeHead,
    );
  }
  writeHead();
  // A text goes out in one piece with the head.
  response.end(request.method === 'HEAD' ? undefined : (compressed ?? plain));
}

import type { Status, StatusDetails } from '../../apis/meta/v1/status.ts';
import type { RequestContext } from '../request/request-context.ts';

/** One JSON answer; personal data must not be kept by caches on the way. */
export function answer({ response }: RequestContext, code: 200 | 201, body: object): void {
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`);
  response.writeHead(code, {
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(bytes);
}

export function answerSuccess(context: RequestContext, details: StatusDetails): void {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    message: 'success',
    details,
    code: 200,
  };
  answer(context, 200, status);
}

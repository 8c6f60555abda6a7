import { bodyTooLarge } from '../request/request-body.ts';
import type { Filter } from './exchange.ts';

/** Refuses a body that announces itself as too large before a byte of it is read. */
export function bodyLimit(maxBytes: number): Filter {
  return ({ request }) => {
    const length = request.headers['content-length'];
    if (length !== undefined && Number(length) > maxBytes) throw bodyTooLarge(maxBytes);
  };
}

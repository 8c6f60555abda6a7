// Pools of seats for tests of the filter chain.
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { Admission, type RequestPools } from '../../server/admission/admission.ts';
import { Seats, type Sharing } from '../../server/admission/seats.ts';

/** Pools with this number of seats each; by default so many that no test fills them. */
export function requestPools(seats = 10_000): RequestPools {
  const limits = { seats, streams: seats };
  return new Admission().requestPools({ requests: limits });
}

/** Seats without a queue: a request without a seat gets 429 at once. */
export function fewSeats(capacity: number, sharing: Sharing = 'queue'): Seats {
  const refusal = (): Error => newTooManyRequests('busy', 1);
  return new Seats({ capacity, sharing, waiting: 0, refusal });
}

// Throttle of what is too long to guess at all replicas, such as client secrets: failures are counted for one source and at this replica
// only, so an attacker delays only its own address.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { networkOf } from '../../admission/network.ts';
import type { SourceAddress } from '../../request/source-address.ts';
import { type DelayLimits, FailureTable } from './failure-table.ts';

export class SourceThrottle {
  readonly #table: FailureTable;
  readonly #sourceOf: SourceAddress;

  /** `now`: monotonic ms. */
  constructor(limits: DelayLimits, sourceOf: SourceAddress, now: () => number) {
    this.#table = new FailureTable(limits, now);
    this.#sourceOf = sourceOf;
  }

  /** Whole seconds until the next allowed attempt; 0 when it is allowed now. `about`: what is guessed, for instance a client id. */
  wait(request: IncomingMessage, about = ''): number {
    return Math.ceil(this.#table.wait(this.#key(request, about)) / 1000);
  }

  succeeded(request: IncomingMessage, about = ''): void {
    this.#table.clear(this.#key(request, about));
  }

  failed(request: IncomingMessage, about = ''): void {
    this.#table.fail(this.#key(request, about));
  }

  /** A digest, because `about` is client input of any length. */
  #key(request: IncomingMessage, about: string): string {
    return hash('sha256', `${networkOf(this.#sourceOf(request))} ${about}`, 'base64');
  }
}

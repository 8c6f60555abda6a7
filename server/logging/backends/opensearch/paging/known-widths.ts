// How much of its range a broad question needed the last time: pages follow one another, and consoles repeat their
// questions. Only a hint: what is found with it is checked like anything else.
import { hash } from 'node:crypto';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import type { Order } from '../../../log-store.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';

export interface Width {
  readonly ms: number;
  /** Lines that were in it. */
  readonly lines: number;
}

const NO_RANGE = { start: '', end: '' };

/** The same question, whatever its range. */
export function kindOf(selected: SelectionQuery, order: Order, isFirst: boolean): string {
  const asked = JSON.stringify([selected.within(NO_RANGE), order, isFirst]);
  return hash('sha256', asked, 'base64');
}

/** By kind. `now` is a monotonic clock in ms. */
export function newKnownWidths(now: () => number): ExpiringMap<string, Width> {
  return new ExpiringMap({ most: 256, ttlMs: 60_000, now });
}

// Which times are read for a page whose total is known or does not matter: not all, but from where it begins; and for
// newest first, since a kubelet cannot start at the end, in windows that get longer.
import { earlier, instantOf, later, millisecondsOf } from '../../../instant.ts';
import type { Order } from '../../../log-store.ts';
import type { Window } from '../reading/pass.ts';
import type { PagePosition } from './line-position.ts';

/** Times the span of the previous page: lines are not spread evenly. */
const MARGIN = 4;
const MIN_WIDTH_MS = 60_000;
const GROWTH = 16;
/** Behind it comes all that is left: each window costs a question for each log. */
const WINDOWS = 2;

export function* pageWindows(
  order: Order,
  range: Window,
  position: PagePosition | undefined,
): Generator<Window, void, undefined> {
  const begin = position?.place.time;
  if (order === 'asc') {
    yield { from: later(range.from, begin ?? range.from), to: range.to };
    return;
  }
  let to = begin === undefined ? range.to : earlier(range.to, instantOf(millisecondsOf(begin) + 1));
  let width = Math.max(MIN_WIDTH_MS, (position?.span ?? 0) * MARGIN);
  for (let n = 0; n < WINDOWS && to > range.from; n++, width *= GROWTH) {
    const from = later(range.from, instantOf(Math.max(0, millisecondsOf(to) - width)));
    yield { from, to };
    to = from;
  }
  if (to > range.from) yield { from: range.from, to };
}

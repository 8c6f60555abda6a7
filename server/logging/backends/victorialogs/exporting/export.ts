// All lines in order, with bounded memory here and in the store, which can only sort all of an answer at once: it is
// asked for one slice of time after the other, sorts each, and prepares one while the one before is read.
import type { Deadline } from '../../../deadline.ts';
import { type Queries, REQUEST_MS } from '../requests/queries.ts';
import { isTooLarge } from '../requests/refusal.ts';
import type { RecordLines } from './record-lines.ts';
import { type SliceBounds, SliceReader, type SliceWanted } from './slice-reader.ts';
import { SliceSize } from './slice-size.ts';
import { type SlicePlan, Slices } from './slices.ts';

export type ExportWanted = SlicePlan & SliceWanted;

const BOUNDS: SliceBounds = { sliceMs: 10_000, requestMs: REQUEST_MS };

/** `call`: the time for all of it. */
export async function* exportLines(
  queries: Queries,
  wanted: ExportWanted,
  call: Deadline,
  bounds = BOUNDS,
): AsyncGenerator<RecordLines, void, undefined> {
  const ended = new AbortController();
  const deadline = call.until(ended.signal);
  const slices = new Slices(queries, wanted, deadline);
  const size = new SliceSize();
  const prepare = async (): Promise<SliceReader | undefined> => {
    const range = await slices.next(size.lines);
    return range && new SliceReader(queries, { ...wanted, range }, deadline, bounds);
  };
  try {
    let next = await prepare();
    while (next) {
      const slice = next;
      const following = prepare();
      // Awaited when this one has been read; until then nobody handles its failure.
      following.catch(() => undefined);
      try {
        yield* slice.read();
        size.learn(slice.progress);
        next = await following;
      } catch (error) {
        if (!isTooLarge(error) || slice.isMoment) throw error;
        size.shrink();
        for (const each of [await following, slice]) if (each) slices.putBack(each.stop());
        next = await prepare();
      }
    }
  } finally {
    ended.abort();
  }
}

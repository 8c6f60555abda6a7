// How much of a range holds the lines that come first in it, found by counting: the index knows how many lines there
// are in a time without looking at any, while to put them in order it has to look at all.

export interface NearPart {
  /** Width of the range, and of the first part to be tried; in any unit. */
  readonly whole: number;
  readonly first: number;
  /** Lines that it must hold, and lines above which it is too wide. */
  readonly needed: number;
  readonly many: number;
  /** Lines within so much of the range; undefined when there was no time to count them, and so none to go on. */
  readonly count: (width: number) => Promise<number | undefined>;
}

/** How much wider the next part is while there is too little. */
const WIDER = 8;
/** Parts of which one is less than so much wider than the other are one as good as the other. */
const CLOSE = 2;
const MOST_COUNTS = 20;

/** A width that holds enough; undefined when nothing less than the whole does. */
export async function nearPart({ whole, first, needed, many, count }: NearPart): Promise<number | undefined> {
  let tooNarrow = 0;
  let enough = whole;
  for (let counts = 0, width = first; counts < MOST_COUNTS && width < enough; counts++) {
    const lines = await count(width);
    if (lines === undefined) return undefined;
    if (lines >= needed && lines <= many) return width;
    if (lines < needed) tooNarrow = width;
    else enough = width;
    if (enough < tooNarrow * CLOSE) break;
    const between = Math.ceil(tooNarrow === 0 ? enough / WIDER : Math.sqrt(tooNarrow * enough));
    width = enough === whole ? Math.min(tooNarrow * WIDER, between) : between;
    if (width <= tooNarrow) break;
  }
  return enough < whole ? enough : undefined;
}

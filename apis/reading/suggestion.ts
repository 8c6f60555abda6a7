/** The known name that a mistyped one most likely meant, or undefined when none is near enough to be worth saying. */
export function suggestion(mistyped: string, known: readonly string[]): string | undefined {
  const wanted = mistyped.toLowerCase();
  let best: string | undefined;
  // A third of the letters may be wrong: enough for typos, too few to offer something unrelated.
  let bestDistance = Math.floor(Math.max(wanted.length, 3) / 3) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? known.find((candidate) => isBegin(wanted, candidate.toLowerCase()));
}

/** Fewer letters begin too much. */
const LEAST_BEGIN = 3;

/** Whether one is the beginning of the other, as `start` is of `start_time`, and `asc` of `ascending`. */
function isBegin(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= LEAST_BEGIN && long.startsWith(short);
}

/** Optimal string alignment: insertions, deletions, substitutions and swapped neighbours cost one; `limit` ends it early. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

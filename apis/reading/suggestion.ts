// Finds the known name that is most similar to a mistyped name, for error messages.
/** Returns the known name that is most similar to a mistyped one, or undefined without a similar one. */
export function suggestion(mistyped: string, known: readonly string[]): string | undefined {
  const wanted = mistyped.toLowerCase();
  let best: string | undefined;
  // Up to a third of the letters may differ: enough for typos, without unrelated suggestions.
  let bestDistance = Math.floor(Math.max(wanted.length, 3) / 3) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best ?? known.find((candidate) => isPrefix(wanted, candidate.toLowerCase()));
}

/** Minimum length of a prefix, because shorter ones are ambiguous. */
const MIN_PREFIX = 3;

/** True if one is a prefix of the other, such as `start` of `start_time`, or `asc` of `ascending`. */
function isPrefix(left: string, right: string): boolean {
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  return short.length >= MIN_PREFIX && long.startsWith(short);
}

/** Optimal string alignment distance (with transpositions), bounded by `limit`. */
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

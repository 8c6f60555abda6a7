/** With fewer texts, looking for one after the other is quicker. */
const FEW = 16;

/**
 * Tells whether one of the texts is in a name. Callers give up to a thousand texts, for thousands of names: looking for
 * each by itself takes up to a millisecond for a single name.
 */
export function containsOneOf(texts: readonly string[]): (name: string) => boolean {
  if (texts.length < FEW) return (name) => texts.some((text) => name.includes(text));
  const sorted = withoutContinuations(texts);
  return (name) => {
    for (let at = 0; at < name.length; at++) {
      const rest = name.slice(at);
      // Whatever stood between a text that the rest begins with and the rest itself would begin with that text too.
      const last = lastUpTo(sorted, rest);
      if (last !== undefined && rest.startsWith(last)) return true;
    }
    return false;
  };
}

/** In order, without those that begin with another one: where they are, that one is as well. */
function withoutContinuations(texts: readonly string[]): string[] {
  const kept: string[] = [];
  // Sorted as `<` compares them, by UTF-16 code units.
  for (const text of texts.toSorted()) {
    const previous = kept.at(-1);
    if (previous === undefined || !text.startsWith(previous)) kept.push(text);
  }
  return kept;
}

/** The last one that does not come behind the text; undefined when all do. */
function lastUpTo(sorted: readonly string[], text: string): string | undefined {
  let begin = 0;
  for (let end = sorted.length; begin < end; ) {
    const middle = (begin + end) >> 1;
    if ((sorted[middle] ?? '') <= text) begin = middle + 1;
    else end = middle;
  }
  return sorted[begin - 1];
}

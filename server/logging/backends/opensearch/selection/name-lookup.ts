// The names that there are, looked through in this process: for more, or longer, texts than a store can be asked to
// find in names, since it makes one automaton of each.
import { isRecord, optionalText } from '../../../../../apis/reading/unknown-value.ts';
import { nextRound } from '../../../../concurrency/event-loop.ts';
import type { Call } from '../../../log-store.ts';
import { containsOneOf } from '../../../matching/contained-text.ts';
import { newNotSupported, newStoreUnavailable } from '../../../store-errors.ts';
import { arrayOf } from '../connection/json-reader.ts';
import { STORE } from '../connection/store-name.ts';
import { aggregatedFields } from '../fields/aggregated-fields.ts';
import type { FieldCoverage } from '../fields/field-map.ts';
import { allOf, type Clause } from '../searches/clause.ts';
import { endingTogether } from '../searches/ending-together.ts';
import type { Searches } from '../searches/searches.ts';

/** Below what one answer may hold. */
const MAX_NAMES = 60_000;
/** Names have no more characters. */
const LONGEST = 253;
/** Names that are looked at before others get their turn. */
const AT_A_TIME = 100;

export interface NameLookup {
  readonly indices: string;
  /** Clauses that hold for the lines whose names are asked for. */
  readonly filter: readonly Clause[];
  readonly coverage: FieldCoverage;
  /** The parameter that asks for them. */
  readonly parameter: string;
}

/** The names that hold one of the texts, whatever the case of ASCII letters. */
export async function namesContaining(
  searches: Searches,
  texts: readonly string[],
  lookup: NameLookup,
  call: Call,
): Promise<string[]> {
  const isIn = containsOneOf(texts.filter((text) => text.length <= LONGEST).map(lowerASCII));
  const found: string[] = [];
  const names = await namesOf(searches, lookup, call);
  for (const [index, name] of names.entries()) {
    if (index % AT_A_TIME === AT_A_TIME - 1) {
      await nextRound();
      call.signal.throwIfAborted();
    }
    if (isIn(lowerASCII(name))) found.push(name);
  }
  return found;
}

async function namesOf(
  searches: Searches,
  { indices, filter, coverage, parameter }: NameLookup,
  call: Call,
): Promise<string[]> {
  const requests = aggregatedFields(indices, coverage)
    .filter((place) => place.fields.length > 0)
    .map((place) => {
      const aggs = Object.fromEntries(
        place.fields.map((field, n) => [`names${n}`, { terms: { field, size: MAX_NAMES } }]),
      );
      const body = { size: 0, track_total_hits: false, query: allOf(filter), aggs };
      return (together: Call) => searches.searchUnchanged(place.indices, body, together);
    });
  const answers = await endingTogether(call, (together) =>
    Promise.all(requests.map((request) => request(together))),
  );
  // A name missing here would silently be left out.
  if (answers.some(({ shortfalls }) => shortfalls.length > 0))
    throw newStoreUnavailable(STORE, new Error('a part of it did not answer'));
  const names = new Set<string>();
  for (const aggregation of answers.flatMap(({ aggregations }) => Object.values(aggregations))) {
    if (!isRecord(aggregation)) continue;
    if (aggregation['sum_other_doc_count'] !== 0) {
      throw newNotSupported(
        STORE,
        parameter,
        'there are too many names to look through; ask for fewer texts',
      );
    }
    for (const bucket of arrayOf(aggregation['buckets'], 'buckets')) {
      const name = isRecord(bucket) ? optionalText(bucket['key']) : undefined;
      if (name !== undefined) names.add(name);
    }
  }
  return [...names];
}

function lowerASCII(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

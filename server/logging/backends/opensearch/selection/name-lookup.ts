// The names that there are, looked through in this process: for more, or longer, texts than a store can be asked to
// find in names, since it makes one automaton of each.
import { nextRound } from '../../../../concurrency/event-loop.ts';
import type { Call } from '../../../log-store.ts';
import { nameMatcher } from '../../../matching/name-filter.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';
import type { FieldCoverage } from '../fields/field-map.ts';
import { allOf, type Clause } from '../searches/clause.ts';
import type { Searches } from '../searches/searches.ts';
import { valueLists } from './value-lists.ts';

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
  const isWanted = nameMatcher({ contains: texts.filter((text) => text.length <= LONGEST) });
  const found: string[] = [];
  const names = await namesOf(searches, lookup, call);
  for (const [index, name] of names.entries()) {
    if (index % AT_A_TIME === AT_A_TIME - 1) {
      await nextRound();
      call.signal.throwIfAborted();
    }
    if (isWanted(name)) found.push(name);
  }
  return found;
}

async function namesOf(
  searches: Searches,
  { indices, filter, coverage, parameter }: NameLookup,
  call: Call,
): Promise<string[]> {
  const aggregation = (field: string) => ({ terms: { field, size: MAX_NAMES } });
  const asked = { indices, query: allOf(filter), coverage, aggregation };
  const lists = await valueLists(searches, asked, call);
  if (lists.some(({ isCut }) => isCut)) {
    throw newNotSupported(STORE, parameter, 'there are too many names to look through; ask for fewer texts');
  }
  return [...new Set(lists.flatMap(({ values }) => values.map(({ name }) => name)))];
}

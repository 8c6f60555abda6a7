// Text search in the objects of one kind: the best matches, and the number of all matches.
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { ObjectIdentity } from '../../cache/resource-cache.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';
import type { ObjectFacts } from '../object-facts.ts';
import { objectsIn } from './objects-in.ts';

/** How an object matches, the best first: its name, the start of its name, a word of its name, or another text. */
export const MATCHES = ['name', 'prefix', 'word', 'text'] as const;
type Match = (typeof MATCHES)[number];

export interface Found<Facts> {
  readonly object: ObjectIdentity<Facts>;
  readonly match: Match;
}

export interface Matches<Facts> {
  /** The best matches, at most `limit`, the best first, then by name and namespace. */
  readonly best: readonly Found<Facts>[];
  /** Number of all matches. */
  readonly total: number;
}

/** Objects, or chunks without a match, between checks of the time slice: about 20 µs. */
const STEPS = 64;
const NONE: readonly [] = [];

/** `namespaces`: undefined for all objects. The text is compared case-insensitively. */
export async function bestMatches<Facts extends ObjectFacts>(
  snapshot: ObjectSnapshot<Facts>,
  text: string,
  namespaces: readonly string[] | undefined,
  limit: number,
  slices: TimeSlices,
): Promise<Matches<Facts>> {
  const wanted = text.toLowerCase();
  const matchOf = newMatcher(wanted);
  const byMatch = MATCHES.map(() => new Least<Facts>(limit));
  let steps = 0;
  const parts = namespaces ? identitiesIn(snapshot, namespaces) : candidates(snapshot, wanted);
  for (const objects of parts) {
    for (const object of objects) {
      const match = matchOf(object);
      if (match >= 0) byMatch[match]?.add(object);
    }
    steps += objects.length || STEPS;
    if (steps < STEPS) continue;
    steps = 0;
    if (slices.spent) await slices.next();
  }
  const best = byMatch.flatMap(({ objects }, i) =>
    objects.map((object) => ({ object, match: MATCHES[i] ?? 'text' })),
  );
  return { best: best.slice(0, limit), total: byMatch.reduce((sum, { total }) => sum + total, 0) };
}

function* identitiesIn<Facts extends ObjectFacts>(
  snapshot: ObjectSnapshot<Facts>,
  namespaces: readonly string[],
): Generator<readonly ObjectIdentity<Facts>[]> {
  for (const objects of objectsIn(snapshot, namespaces)) yield objects.map(({ identity }) => identity);
}

/**
 * Yields the objects of each chunk that may have a match. After every STEPS other chunks, yields an empty array, so that
 * the caller can check its time slice. `wanted` is in lower case.
 */
function* candidates<Facts extends ObjectFacts>(
  { chunks }: ObjectSnapshot<Facts>,
  wanted: string,
): Generator<readonly ObjectIdentity<Facts>[]> {
  const part = rarePart(wanted);
  let skipped = 0;
  for (const chunk of chunks) {
    chunk.searchText ??= searchTextOf(chunk.identities);
    if (chunk.searchText.includes(part)) yield chunk.identities;
    else if (++skipped % STEPS === 0) yield NONE;
  }
}

/** Letters that are rare in names, labels and images, the rarest first. */
const RARE = 'zqxjkvywhgumpl'.split('');
const MIN_PART = 3;

/**
 * Returns the end of the text from its rarest letter on. V8 searches it up to four times as fast as a text that starts
 * with a frequent letter.
 */
function rarePart(text: string): string {
  const start = text.slice(0, 1 - MIN_PART);
  const letter = RARE.find((letter) => start.includes(letter));
  return letter === undefined ? text : text.slice(start.indexOf(letter));
}

/** Returns the searched texts of all objects, in lower case. */
function searchTextOf(objects: readonly ObjectIdentity<ObjectFacts>[]): string {
  const texts = objects.flatMap(({ name, namespace, facts }) => [
    name.toLowerCase(),
    namespace,
    facts.searchText,
  ]);
  return [...new Set(texts)].join('\n');
}

/** The first objects by name and namespace, and the number of all. The objects are added in the order of their keys. */
class Least<Facts> {
  readonly #limit: number;
  readonly objects: ObjectIdentity<Facts>[] = [];
  total = 0;
  /** The namespace of the last object that was beyond the limit. So are all later objects of this namespace. */
  #beyond: string | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(object: ObjectIdentity<Facts>): void {
    this.total++;
    if (object.namespace === this.#beyond) return;
    const { objects } = this;
    const last = objects[this.#limit - 1];
    if (last && byName(last, object) < 0) {
      this.#beyond = object.namespace;
      return;
    }
    const after = objects.findLastIndex((other) => byName(other, object) < 0);
    objects.splice(after + 1, 0, object);
    if (objects.length > this.#limit) objects.pop();
  }
}

/**
 * Returns the function that returns the index of the match of an object in MATCHES; -1 for none. `wanted` is in lower
 * case. Neighbours often share their namespace and their texts, so the function keeps the last results.
 */
function newMatcher(wanted: string): (object: ObjectIdentity<ObjectFacts>) => number {
  const inNamespace = lastResult((namespace) => namespace.includes(wanted));
  const inText = lastResult((text) => text.includes(wanted));
  return ({ key, namespace, facts }) => {
    // Searches in the key, because a copy of each name would take longer than the search.
    const start = namespace === '' ? 0 : namespace.length + 1;
    const prefixed = (name: string): number => (name.length - start === wanted.length ? 0 : 1);
    // Most names are in lower case.
    if (key.startsWith(wanted, start)) return prefixed(key);
    const lower = key.toLowerCase();
    const at = lower.indexOf(wanted, start);
    if (at === start) return prefixed(lower);
    if (at > start) return isWordAt(lower, wanted, at) ? 2 : 3;
    return inNamespace(namespace) || inText(facts.searchText) ? 3 : -1;
  };
}

function lastResult(read: (text: string) => boolean): (text: string) => boolean {
  let last = '';
  let result = read(last);
  return (text) => {
    if (text !== last) {
      last = text;
      result = read(text);
    }
    return result;
  };
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Returns true if a word of the name starts with the text. `at`: the first position of the text. */
function isWordAt(name: string, wanted: string, at: number): boolean {
  for (let i = at; i > 0; i = name.indexOf(wanted, i + 1)) {
    if (!LETTER_OR_DIGIT.test(name.charAt(i - 1))) return true;
  }
  return false;
}

function byName(left: ObjectIdentity<unknown>, right: ObjectIdentity<unknown>): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return left.key < right.key ? -1 : 1;
}

// What runs in the thread of LongLines.
import { BoundedMap } from '../../memory/bounded-map.ts';
import { type LineMatcher, lineMatcher } from './line-matcher.ts';
import type { LongLine } from './long-lines.ts';

/** Queries have lines looked at by turns, and a pattern is read in milliseconds. */
const matchers = new BoundedMap<string, LineMatcher>(16);

export default function matches({ text, line }: LongLine): boolean {
  const key = JSON.stringify(text);
  const known = matchers.get(key);
  const matcher = known ?? lineMatcher(text);
  if (!known) matchers.set(key, matcher);
  return matcher.matches(line);
}

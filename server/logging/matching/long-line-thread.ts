// Worker thread that matches long log lines for long-lines.ts.
import { LRUCache } from 'lru-cache';
import { type LineMatcher, lineMatcher } from './line-matcher.ts';
import type { LongLine } from './long-lines.ts';

/** Compiled filters; lines of several queries alternate. */
const matchers = new LRUCache<string, LineMatcher>({ max: 16 });

export default function matches({ text, line }: LongLine): boolean {
  const key = JSON.stringify(text);
  const known = matchers.get(key);
  const matcher = known ?? lineMatcher(text);
  if (!known) matchers.set(key, matcher);
  return matcher.matches(line);
}

import type { LogRecord, TextFilter } from '../../log-store.ts';
import { lineMatcher } from '../../matching/line-matcher.ts';

/** Judges the lines that the quick way leaves open, which are those that are not all ASCII; the others it has judged. */
export function judgeOf(text: TextFilter | undefined): (record: LogRecord) => boolean {
  if (text?.mode !== 'phrase' && text?.mode !== 'prefix') return () => true;
  const matcher = lineMatcher(text);
  return ({ log }) => isASCII(log) || matcher.matches(log);
}

function isASCII(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

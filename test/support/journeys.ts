// Parser of the lists in server/README.md of the source files that handle each kind of request.
import { posix } from 'node:path';

export const JOURNEYS_DOCUMENT = 'server/README.md';
/** The lists that apply to each journey. */
export const SHARED: readonly string[] = ['Every request', 'At any time'];

/** Files by the title of their journey. `text`: the content of the document. */
export function journeysIn(text: string): ReadonlyMap<string, readonly string[]> {
  const [, section = ''] = text.split(/^## Journeys$/m);
  const [own = ''] = section.split(/^## /m);
  const journeys = own.split(/^### /m).slice(1);
  return new Map(
    journeys.map((journey) => {
      const [title = ''] = journey.split('\n');
      const links = [...journey.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, link = '']) => link);
      return [title, links.map((link) => posix.join(posix.dirname(JOURNEYS_DOCUMENT), link))];
    }),
  );
}

// Search over all kinds.
import type { SearchParameters, SearchResult } from './generated/platform.ts';
import type { Transport } from './transport.ts';

/** Options of a search. `kinds`: `plural` or `plural.group`; `limit`: maximum of matches of each kind. */
export interface SearchOptions extends Pick<SearchParameters, 'kinds' | 'limit'> {
  readonly signal?: AbortSignal | undefined;
}

/** The best matches of a text, grouped by kind; the kind with the best match is first. */
export function search(
  transport: Transport,
  base: string,
  q: string,
  { signal, ...query }: SearchOptions,
): Promise<SearchResult> {
  return transport.json(`${base}/search`, { query: { q, ...query }, signal });
}

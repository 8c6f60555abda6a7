// Checks the health of OpenSearch or Elasticsearch. The check requires indices with the configured names and a
// supported mapping.
import { UnfitOptionError } from '../../store/configuration-errors.ts';
import type { Call } from '../../store/log-store.ts';
import { isIndexAccessDenied, newStoreUnavailable } from '../../store/store-errors.ts';
import { regexp } from './clauses.ts';
import { STORE } from './error-response.ts';
import {
  allIndices,
  allWithPrefix,
  type IndexNaming,
  type IndexSet,
  type IndexSets,
  listed,
} from './index-sets.ts';
import type { SearchClient } from './search-client.ts';
import type { FieldNames, Hit, RecordReader } from './search-hit.ts';

export interface SelfCheckOptions {
  readonly client: SearchClient;
  readonly indexSets: IndexSets;
  readonly records: RecordReader;
  readonly names: FieldNames;
  readonly naming: IndexNaming;
}

const DAY = /^\d{4}\.\d\d\.\d\d$/;
/** Maximum number of indices without a daily name that are checked: the last ones by name. */
const MAX_CHECKED = 20;
const SAMPLE = {
  size: 5,
  track_total_hits: false,
  terminate_after: 5,
  sort: ['_doc', { _seq_no: { unmapped_type: 'long' } }],
};

/** Rejects with UnfitOptionError for a wrong option, or with the error that a query would get. */
export async function selfCheck(options: SelfCheckOptions, call: Call): Promise<void> {
  const { client, indexSets, names, naming } = options;
  const { prefix, daily } = naming;
  const path = allIndices(naming);
  // Sends a search even if the layout is cached. The search for fields fails if the index has no _source.
  const sample = { ...SAMPLE, _source: Object.values(names) };
  const { hits } = await client.searchPath(path, sample, call).catch((error: unknown) => {
    if (!isIndexAccessDenied(error)) throw error;
    const reason = `it rejects searches of some of the indices that begin with ${prefix}`;
    throw unfit('indexPrefix', reason, 'log queries miss their lines, or return 503');
  });
  const indices = await indexSets.read(path, call);
  if (!indices || indices.groups.length === 0) {
    const others = daily ? await indexSets.read(allWithPrefix(prefix), call) : undefined;
    throw others
      ? unfit(
          'dailyIndices',
          `no index that begins with ${prefix} has a name of the form ${prefix}-YYYY.MM.DD`,
        )
      : unfit('indexPrefix', `there is no line yet in indices that begin with ${prefix}`);
  }
  if (daily) await checkDailyNames(options, indices, call);
  checkLayouts(indices);
  checkRecords(options, hits);
  const expensive = { ...SAMPLE, size: 0, query: regexp(names.message, 'any') };
  await client.searchPath(indices.path, expensive, call);
}

async function checkDailyNames(
  { indexSets, naming: { prefix } }: SelfCheckOptions,
  { indices }: IndexSet,
  call: Call,
): Promise<void> {
  const others = indices
    .filter((name) => name.startsWith(`${prefix}-`) && !isDaily(prefix, name))
    .toSorted()
    .slice(-MAX_CHECKED);
  const days = new Set(others.map((name) => dayIn(prefix, name)).filter((day) => day !== undefined));
  const aliased = days.size === 0 ? undefined : await indexSets.read([...days].join(','), call);
  const unaliased = others.filter((name) => !aliased?.indices.includes(name));
  if (unaliased.length > 0) {
    const reason = `the names of ${listed(unaliased)} are not of the form ${prefix}-YYYY.MM.DD`;
    throw unfit('dailyIndices', reason, 'log queries miss their lines');
  }
}

function isDaily(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}-`) && DAY.test(name.slice(prefix.length + 1));
}

/** The daily index for the date in a name such as `<prefix>-2026.01.15-000002`; undefined without a date. */
function dayIn(prefix: string, name: string): string | undefined {
  const [, ...parts] = /^-(\d{4})\D?(\d\d)\D?(\d\d)/.exec(name.slice(prefix.length)) ?? [];
  return parts.length === 0 ? undefined : `${encodeURIComponent(prefix)}-${parts.join('.')}`;
}

function checkLayouts({ unsupported, groups }: IndexSet): void {
  const [[index, problem] = []] = unsupported;
  if (index !== undefined) {
    const more = unsupported.size > 1 ? ` (and in ${unsupported.size - 1} more)` : '';
    throw unfit(
      'fields',
      `in index ${index}${more} ${problem}`,
      'log queries miss their lines, or return 400',
    );
  }
  const uncounted = groups.find(({ layout }) => layout.containerID === undefined);
  if (uncounted) {
    const reason = `in ${listed(uncounted.indices)} the ids of containers are not a keyword with doc_values`;
    throw unfit('fields', reason, 'statistics miss containers');
  }
}

/**
 * Checks that `_source` has the configured fields. Aliases, subfields and excluded fields are mapped but not in
 * `_source`.
 */
function checkRecords({ records, names }: SelfCheckOptions, hits: readonly Hit[]): void {
  if (hits.length === 0) return;
  const read = hits.map((hit) => records.read(hit));
  for (const [field, name] of [
    ['log', names.message],
    ['namespace', names.namespace],
    ['pod', names.pod],
    ['container', names.container],
  ] as const) {
    if (read.some((record) => record[field] !== '')) continue;
    throw unfit(
      'fields',
      `lines have no ${name} in their _source`,
      'log queries miss lines, or show them without it',
    );
  }
}

function unfit(
  option: 'indexPrefix' | 'dailyIndices' | 'fields',
  reason: string,
  effect = 'log queries find nothing',
): Error {
  return newStoreUnavailable(STORE, new UnfitOptionError(`logging.opensearch.${option}`, reason, effect));
}

// Baseline queries of the log benchmarks, in LogsQL (VictoriaLogs) and the query DSL (OpenSearch). Each baseline
// query and the equivalent ks-apiserver query return the same log lines.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ClientRequest } from '../../control-plane/client.ts';

/** Seconds since the epoch; `end` is included, as in our API. */
export interface LogRange {
  readonly start: number;
  readonly end: number;
}

export interface LogPeer {
  readonly name: string;
  /** The newest `size` lines of a namespace with a word that starts with `word`; returns their total. */
  query(range: LogRange, namespace: string, word: string, size: number): Promise<number>;
  /** The newest `size` lines; returns the total. */
  newest(range: LogRange, size: number): Promise<number>;
  /** Number of lines and containers. */
  statistics(range: LogRange): Promise<readonly [logs: number, containers: number]>;
  /** Lines in buckets of 15 minutes; returns the total. */
  histogram(range: LogRange): Promise<number>;
  /** Calls `report` for every new line of the namespace until the signal aborts, with the fastest API of the store. */
  follow(namespace: string, report: (text: string) => void, signal: AbortSignal): Promise<void>;
  readonly followNote: string;
  /** All lines from the oldest on, with the five fields of our records; returns their number. */
  export(range: LogRange): Promise<number>;
}

const NAMES = ['namespace_name', 'pod_name', 'container_name'].map((name) => `kubernetes.${name}`);

export function victoriaLogsPeer(client: Client): LogPeer {
  const form = (fields: Readonly<Record<string, string>>): ClientRequest => ({
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  const within = ({ start, end }: LogRange) =>
    `_time:[${new Date(start * 1000).toISOString()}, ${new Date((end + 1) * 1000).toISOString()})`;
  const rows = async (fields: Readonly<Record<string, string>>): Promise<unknown[]> => {
    const { body } = await client.expect('/select/logsql/query', form(fields), [200]);
    return body
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line));
  };
  const members = `| fields _time, _msg, ${NAMES.map((name) => JSON.stringify(name)).join(', ')}`;
  const page = async (filter: string, size: number): Promise<number> => {
    const [[counted]] = await Promise.all([
      rows({ query: `${filter} | stats count() as n` }),
      rows({ query: `${filter} ${members}`, limit: String(size) }),
    ]);
    return Number(memberOf(counted, 'n'));
  };
  return {
    name: 'VictoriaLogs',
    query: (range, namespace, word, size) =>
      page(
        `{kubernetes.namespace_name=${JSON.stringify(namespace)}} ${within(range)} i(${JSON.stringify(word)}*)`,
        size,
      ),
    newest: (range, size) => page(within(range), size),
    statistics: async (range) => {
      const stats = 'stats count() as n, count_uniq(kubernetes.docker_id) as c';
      const [row] = await rows({ query: `${within(range)} | ${stats}` });
      return [Number(memberOf(row, 'n')), Number(memberOf(row, 'c'))];
    },
    histogram: async (range) => {
      const answer = JSON.parse(
        (await client.expect('/select/logsql/hits', form({ query: within(range), step: '15m' }), [200])).body,
      );
      return Number(memberOf(answer, 'hits', '0', 'total'));
    },
    follow: async (namespace, report, signal) => {
      const query = `{kubernetes.namespace_name=${JSON.stringify(namespace)}}`;
      const answer = await client.open('/select/logsql/tail', { ...form({ query }), signal });
      for await (const chunk of answer) report(String(chunk));
    },
    followNote: 'Peer: the tail of the store with default settings',
    export: async (range) => {
      const query = `${within(range)} ${members} | sort by (_time)`;
      // Ten minutes, because sorting everything at once is slow.
      const answer = await client.open('/select/logsql/query', form({ query, timeout: '600s' }));
      return countLines(answer);
    },
  };
}

const PAGE = 5_000;
const POLL_MS = 100;

export function openSearchPeer(client: Client, indexPrefix: string): LogPeer {
  const send = async (
    path: string,
    body: unknown,
    method: ClientRequest['method'] = 'POST',
  ): Promise<unknown> => JSON.parse((await client.expect(path, { method, body }, [200])).body);
  const source = ['log', 'time', ...NAMES];
  const within = ({ start, end }: LogRange) => ({
    range: { time: { gte: start, lt: end + 1, format: 'epoch_second' } },
  });
  const search = (body: object) => send(`/${indexPrefix}-*/_search`, { track_total_hits: true, ...body });
  const total = (answer: unknown): number => Number(memberOf(answer, 'hits', 'total', 'value'));
  const newest = (filter: readonly object[], size: number) =>
    search({ size, sort: [{ time: 'desc' }], _source: source, query: { bool: { filter } } });
  return {
    name: 'OpenSearch',
    query: async (range, namespace, word, size) => {
      const filter = [
        within(range),
        { term: { 'kubernetes.namespace_name': namespace } },
        { match_phrase_prefix: { log: { query: word, max_expansions: 1_000 } } },
      ];
      return total(await newest(filter, size));
    },
    newest: async (range, size) => total(await newest([within(range)], size)),
    statistics: async (range) => {
      const containers = { cardinality: { field: 'kubernetes.docker_id', precision_threshold: 40_000 } };
      const query = { bool: { filter: [within(range)] } };
      const answer = await search({ size: 0, query, aggs: { containers } });
      return [total(answer), Number(memberOf(answer, 'aggregations', 'containers', 'value'))];
    },
    histogram: async (range) => {
      const buckets = {
        date_histogram: {
          field: 'time',
          fixed_interval: '15m',
          min_doc_count: 0,
          extended_bounds: { min: range.start * 1000, max: range.end * 1000 },
        },
      };
      return total(
        await search({ size: 0, query: { bool: { filter: [within(range)] } }, aggs: { buckets } }),
      );
    },
    follow: async (namespace, report, signal) => {
      while (!signal.aborted) {
        const filter = [
          { term: { 'kubernetes.namespace_name': namespace } },
          { range: { time: { gte: 'now-1m' } } },
        ];
        const found = await search({ size: PAGE, sort: [{ time: 'desc' }], query: { bool: { filter } } });
        report(JSON.stringify(found));
        await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    followNote: `The store has no tail; the peer polls for new lines every ${POLL_MS} ms`,
    export: async (range) => {
      const opened = await send(`/${indexPrefix}-*/_search/point_in_time?keep_alive=5m`, {});
      const pit = { id: memberOf(opened, 'pit_id'), keep_alive: '5m' };
      const query = { bool: { filter: [within(range)] } };
      // The default drops nanoseconds in search_after, which repeats lines.
      const sort = [{ time: { order: 'asc', numeric_type: 'date_nanos' } }, { _seq_no: 'asc' }];
      let lines = 0;
      let after = '';
      for (;;) {
        const body = JSON.stringify({
          size: PAGE,
          pit,
          query,
          sort,
          _source: source,
          track_total_hits: false,
        });
        const nextPage = { method: 'POST', body: `${body.slice(0, -1)}${after}}` } as const;
        const { body: text } = await client.expect('/_search', nextPage, [200]);
        const hits = memberOf(JSON.parse(text), 'hits', 'hits');
        if (!Array.isArray(hits) || hits.length === 0) break;
        lines += hits.length;
        // Copied as text, because JavaScript numbers cannot hold nanoseconds.
        after = `,"search_after":${/.*"sort":(\[[^\]]*\])/s.exec(text)?.[1] ?? '[]'}`;
      }
      await send('/_search/point_in_time', { pit_id: [pit.id] }, 'DELETE');
      return lines;
    },
  };
}

/** Reads the response and counts its lines. */
export async function countLines(response: AsyncIterable<Buffer>): Promise<number> {
  let lines = 0;
  for await (const chunk of response) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  }
  return lines;
}

const NEWLINE = 0x0a;

/** Returns the nested JSON member at the path; undefined if it is missing. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let member = value;
  for (const name of path) {
    member = typeof member === 'object' && member !== null ? Reflect.get(member, name) : undefined;
  }
  return member;
}

// Fake OpenSearch that returns prepared responses, including incorrect responses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Selection } from '../../../../../../server/logging/store/log-store.ts';
import { closeNow, listenOnLoopback } from '../../../../../support/loopback.ts';

export interface ScriptedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** Returns JSON for a response with status 200, or RESPONDED. */
export type Script = (request: ScriptedRequest, response: ServerResponse) => unknown;

export interface ScriptedStore extends AsyncDisposable {
  readonly url: string;
  /** Requests besides those for the layout of indices. */
  readonly requests: ScriptedRequest[];
}

/** The result of a script that writes the response itself, or never. */
export const RESPONDED = Symbol('responded');

/** `layout`: responds to requests about the layout of indices. */
export async function scriptedStore(script: Script, layout: Script = oneIndex): Promise<ScriptedStore> {
  const requests: ScriptedRequest[] = [];
  const server = createServer((incoming, response) => {
    void textOf(incoming).then((text) => {
      const request: ScriptedRequest = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: text === '' ? {} : JSON.parse(text),
        text,
      };
      const isAboutIndices = isProbe(request) || request.path.includes('/_field_caps');
      if (!isAboutIndices) requests.push(request);
      const result = (isAboutIndices ? layout : script)(request, response);
      if (result === RESPONDED) return;
      const json = typeof result === 'string' ? result : JSON.stringify(result);
      response.writeHead(200, { 'content-type': 'application/json' }).end(json);
    });
  });
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, requests, [Symbol.asyncDispose]: () => closeNow(server) };
}

function isProbe({ text }: ScriptedRequest): boolean {
  return text.includes('"match_none"');
}

function oneIndex(request: ScriptedRequest): unknown {
  return isProbe(request) ? searchResponse([]) : CAPABILITIES;
}

const keyword = { keyword: { type: 'keyword', searchable: true, aggregatable: true } };
const CAPABILITIES = {
  indices: ['logs-2026.01.15'],
  fields: {
    time: { date_nanos: { type: 'date_nanos', searchable: true, aggregatable: true } },
    log: { text: { type: 'text', searchable: true, aggregatable: false } },
    'log.wildcard': { wildcard: { type: 'wildcard', searchable: true, aggregatable: false } },
    'kubernetes.namespace_name': keyword,
    'kubernetes.pod_name': keyword,
    'kubernetes.container_name': keyword,
    'kubernetes.docker_id': keyword,
  },
};

export const SELECTION: Selection = {
  scope: { everything: true },
  range: { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' },
};

export interface Line {
  readonly id: string;
  /** Nanoseconds since the epoch. */
  readonly key: string;
  readonly sequence: number;
  readonly log?: string;
}

/** A search response as JSON. Its sort keys have more digits than JavaScript numbers keep. */
export function searchResponse(lines: readonly Line[], rest: Readonly<Record<string, unknown>> = {}): string {
  const hits = lines.map(({ id, key, sequence, log = id }) => {
    const source = {
      time: `${new Date(Number(BigInt(key) / 1_000_000n)).toISOString().slice(0, 19)}.${key.slice(-9)}Z`,
      log,
      kubernetes: { namespace_name: 'web', pod_name: 'web-1', container_name: 'app' },
    };
    return `{"_index":"logs-2026.01.15","_id":"${id}","_score":null,"_source":${JSON.stringify(source)},"sort":[${key},${sequence}]}`;
  });
  const head = JSON.stringify({
    took: 1,
    timed_out: false,
    _shards: { total: 2, successful: 2, skipped: 0, failed: 0 },
    ...rest,
  });
  return `${head.slice(0, -1)},"hits":{"total":{"value":${lines.length},"relation":"eq"},"max_score":null,"hits":[${hits.join(',')}]}}`;
}

/** The page of a store with these lines, for each search. */
export function searchIn(
  lines: readonly Line[],
  { text, body }: ScriptedRequest,
  rest?: Readonly<Record<string, unknown>>,
): string {
  const after = /"search_after":\[(-?\d+),(-?\d+)\]/.exec(text);
  const behind = lines.filter(({ key, sequence }) => {
    if (!after) return true;
    const [, time = '0', number = '0'] = after;
    return BigInt(key) > BigInt(time) || (key === time && sequence > Number(number));
  });
  const from = Number(body['from'] ?? 0);
  return searchResponse(behind.slice(from, from + Number(body['size'])), rest);
}

// An HTTP server that answers as OpenSearch would, or as it should not.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Call, Selection } from '../../../../../../server/logging/log-store.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
  readonly text: string;
}

/** JSON is answered with 200; or the response is left to the script. */
export type Script = (asked: Asked, response: ServerResponse) => unknown;

export interface ScriptedStore extends AsyncDisposable {
  readonly url: string;
  readonly asked: Asked[];
}

/** What a script returns that has answered by itself, or never will. */
export const ANSWERED = Symbol('answered');

export async function scriptedStore(
  script: Script,
  capabilities: object | Script = CAPABILITIES,
): Promise<ScriptedStore> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const one: Asked = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : JSON.parse(text),
        text,
      };
      // Beside that for capabilities, and answered by whoever answers these.
      const isLook = one.path.includes('expand_wildcards=');
      if (!isLook) asked.push(one);
      const mapping = typeof capabilities === 'function' ? capabilities : () => capabilities;
      const isAboutIndices = isLook || one.path.includes('/_field_caps');
      const answer = isAboutIndices ? mapping(one, response) : script(one, response);
      if (answer === ANSWERED) return;
      const json = typeof answer === 'string' ? answer : JSON.stringify(answer);
      response.writeHead(200, { 'content-type': 'application/json' }).end(json);
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const { promise: closed, resolve: close } = Promise.withResolvers<void>();
      server.close(() => close());
      server.closeAllConnections();
      await closed;
    },
  };
}

const keyword = { keyword: { type: 'keyword', searchable: true, aggregatable: true } };
export const CAPABILITIES = {
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

export function call(timeoutMs = 30_000, signal = new AbortController().signal): Call {
  return { signal, timeoutMs };
}

export interface Line {
  readonly id: string;
  /** Nanoseconds since the epoch. */
  readonly key: string;
  readonly sequence: number;
  readonly log?: string;
}

/** The answer of a search, as JSON: sort keys have more digits than numbers of JavaScript keep. */
export function answer(lines: readonly Line[], rest: Readonly<Record<string, unknown>> = {}): string {
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

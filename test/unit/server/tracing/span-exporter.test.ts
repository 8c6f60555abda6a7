// Tests of the export of spans to a collector that is slow, unavailable, or rejects them.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Span } from '../../../../server/tracing/span.ts';
import { MAX_WAITING, SpanExporter } from '../../../../server/tracing/span-exporter.ts';
import { TracingMetrics } from '../../../../server/tracing/tracing-metrics.ts';
import { issueServer, newCA } from '../../../support/certificates.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { running } from '../../../support/running.ts';
import { until } from '../../../support/until.ts';

const SPAN: Span = {
  name: 'GET',
  kind: 'server',
  traceID: 'a'.repeat(32),
  spanID: 'b'.repeat(16),
  parent: undefined,
  startedAt: 0,
  endedAt: 1,
  attributes: {},
  events: [],
  isFailed: false,
};
const spans = (count: number): Span[] => Array.from({ length: count }, () => SPAN);

describe('the export of spans', () => {
  const ending: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ending.splice(0).reverse()) await end();
  });

  async function listening(server: Server): Promise<number> {
    ending.push(() => closeNow(server));
    return listenOnLoopback(server);
  }

  const collector = async (respond: RequestListener): Promise<string> =>
    `http://127.0.0.1:${await listening(createServer(respond))}`;

  /** A body has one byte per span. */
  function exporter(
    endpoint: string,
    { caFile = '', encode = (batch: readonly Span[]) => Buffer.alloc(batch.length) } = {},
  ) {
    const registry = new Registry();
    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const metrics = new TracingMetrics(registry);
    const made = new SpanExporter({ endpoint, caFile, encode, metrics, log, intervalMs: 5 });
    const outcomes = async (): Promise<Record<string, number>> => {
      const [metric] = await registry.getMetricsAsJSON();
      return Object.fromEntries(
        (metric?.values ?? []).map(({ labels, value }) => [labels['outcome'], value]),
      );
    };
    return { made, outcomes, lines };
  }

  it('sends them to /v1/traces below the path of the endpoint, and the rest at the stop', async () => {
    const requests: string[] = [];
    const endpoint = await collector((request, response) => {
      void sizeOf(request).then((size) => {
        requests.push(`${request.method} ${request.url} ${request.headers['content-type']} ${size}`);
        response.end();
      });
    });
    const { made, outcomes } = exporter(`${endpoint}/insert/opentelemetry/`);
    const run = running((signal) => made.run(signal));
    made.add(spans(2));
    await until(() => requests.length === 1);
    made.add(spans(3));
    await run[Symbol.asyncDispose]();
    expect(requests).to.deep.equal(
      [2, 3].map((size) => `POST /insert/opentelemetry/v1/traces application/x-protobuf ${size}`),
    );
    expect(await outcomes()).to.deep.equal({ exported: 5, rejected: 0, queue_full: 0 });
  });

  it('keeps a bounded number while the collector is unavailable, and counts the others', async () => {
    const { made, outcomes } = exporter('http://127.0.0.1:1');
    for (let i = 0; i < MAX_WAITING; i++) made.add(spans(2));
    expect(await outcomes()).to.deep.equal({ exported: 0, rejected: 0, queue_full: MAX_WAITING });
  });

  it('repeats a request after the failures of OTLP, and drops the spans of others', async () => {
    const statuses = [503, 429, 400, 302];
    const sizes: number[] = [];
    const endpoint = await collector((request, response) => {
      void sizeOf(request).then((size) => {
        sizes.push(size);
        response.writeHead(statuses.shift() ?? 200, { Location: '/elsewhere' }).end();
      });
    });
    const { made, outcomes, lines } = exporter(endpoint);
    await using _run = running((signal) => made.run(signal));
    made.add(spans(2));
    await until(() => statuses.length === 1);
    made.add(spans(3));
    await until(() => statuses.length === 0);
    made.add(spans(4));
    await until(async () => (await outcomes())['exported'] === 4);
    expect(sizes).to.deep.equal([2, 2, 2, 3, 4]);
    expect(await outcomes()).to.deep.equal({ exported: 4, rejected: 5, queue_full: 0 });
    expect(lines.at(-1)).to.include({ msg: 'spans are exported again' });
  });

  it('sends spans once to a collector or proxy whose response is not one of OTLP', async () => {
    const bodies = [
      'OK',
      '{"partialSuccess":{}}',
      '\n\u00ff\u00ff',
      'x'.repeat(100_000),
      'x'.repeat(100_000),
    ];
    const sizes: number[] = [];
    const endpoint = await collector((request, response) => {
      void sizeOf(request).then((size) => {
        sizes.push(size);
        response.writeHead(bodies.length === 1 ? 404 : 200).end(bodies.shift());
      });
    });
    const { made, outcomes } = exporter(endpoint);
    await using _run = running((signal) => made.run(signal));
    for (let size = 1; size <= 5; size++) {
      made.add(spans(size));
      await until(() => sizes.length >= size);
    }
    await until(async () => (await outcomes())['rejected'] === 5);
    expect(sizes).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await outcomes()).to.deep.equal({ exported: 10, rejected: 5, queue_full: 0 });
  });

  it('counts the spans that the collector rejects in a successful response', async () => {
    // partialSuccess.rejectedSpans: 3.
    const endpoint = await collector(
      (_request, response) => void response.end(Buffer.from('0a020803', 'hex')),
    );
    const { made, outcomes } = exporter(endpoint);
    await using _run = running((signal) => made.run(signal));
    made.add(spans(4));
    await until(async () => (await outcomes())['rejected'] === 3);
    expect(await outcomes()).to.include({ exported: 1 });
  });

  it('logs rejections once a minute, also of a collector that accepts other spans in between', async () => {
    const statuses = [400, 200, 400, 200, 413, 200];
    const endpoint = await collector((_request, response) => {
      response.writeHead(statuses.shift() ?? 200).end();
    });
    const { made, outcomes, lines } = exporter(endpoint);
    await using _run = running((signal) => made.run(signal));
    made.add(spans(6 * 64));
    await until(async () => (await outcomes())['exported'] === 3 * 64);
    expect(await outcomes()).to.include({ rejected: 3 * 64 });
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['the collector rejects spans']);
  });

  it('logs failures once a minute, also of a collector that accepts spans in between', async () => {
    const statuses = [503, 200, 503, 200, 503, 200];
    const endpoint = await collector((_request, response) => {
      response.writeHead(statuses.shift() ?? 200).end();
    });
    const { made, outcomes, lines } = exporter(endpoint);
    await using _run = running((signal) => made.run(signal));
    made.add(spans(3 * 64));
    await until(async () => (await outcomes())['exported'] === 3 * 64);
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['cannot export spans', 'spans are exported again']);
  });

  it('does not keep the server from stopping when the collector accepts connections and never responds', async () => {
    const server = createServer(() => undefined);
    const endpoint = `http://127.0.0.1:${await listening(server)}`;
    const { made, lines } = exporter(endpoint);
    const run = running((signal) => made.run(signal));
    const asked = once(server, 'request');
    made.add(spans(2));
    await asked;
    await run[Symbol.asyncDispose]();
    expect(lines.at(-1)).to.include({ msg: 'spans dropped at the stop of the server', spans: 2 });
  });

  it('trusts the CA of the option, and a new one after the file has changed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'span-exporter-'));
    ending.push(() => rm(dir, { recursive: true }));
    const caFile = join(dir, 'ca.crt');
    const [trusted, other] = await Promise.all([newCA('collector'), newCA('other')]);
    const { cert, key } = await issueServer(trusted);
    const server = createSecureServer({ cert, key }, (_request, response) => void response.end());
    const port = await listening(server);
    const { made, outcomes, lines } = exporter(`https://127.0.0.1:${port}`, { caFile });
    await using _run = running((signal) => made.run(signal));
    made.add(spans(1));
    await until(() => lines.length === 1);
    expect(JSON.stringify(lines)).to.include('tracing.caFile: no such file');
    await writeFile(caFile, trusted.key);
    await until(() => lines.length === 2);
    expect(JSON.stringify(lines[1])).to.include('tracing.caFile: it contains no certificate');
    await writeFile(caFile, other.cert);
    await until(() => lines.length === 3);
    expect(await outcomes()).to.include({ exported: 0, rejected: 0 });
    await writeFile(caFile, trusted.cert);
    await until(async () => (await outcomes())['exported'] === 1);
  });
});

async function sizeOf(request: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const chunk of request) size += (chunk as Buffer).length;
  return size;
}

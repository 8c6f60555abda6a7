// Starts the OpenTelemetry Collector as a child process, which appends the spans that it receives to a file.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { provideGoProgram } from '../artifacts/go-programs.ts';
import { Client } from '../control-plane/client.ts';
import { Daemon } from '../system/daemon.ts';
import { withPortRetry } from '../system/port-retry.ts';
import { freePorts } from '../system/ports.ts';

interface CollectorOptions {
  /** Folder of configuration, log and spans; created if missing. */
  readonly dir: string;
  /** Serving certificate, its key, and its CA, PEM. Without them, the collector has no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly signal: AbortSignal;
}

export interface ReceivedSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceID: string;
  readonly spanID: string;
  readonly parentID: string;
  readonly isFailed: boolean;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly at: bigint; readonly attributes: Attributes }[];
  /** The trace IDs of its links. */
  readonly links: readonly string[];
  /** Attributes of the program that has sent it. */
  readonly resource: Attributes;
}

type Attributes = Readonly<Record<string, string | number>>;

/** Stops when disposed. */
export interface Collector extends AsyncDisposable {
  /** URL of OTLP over HTTP. */
  readonly url: string;
  /** Host and port of OTLP over gRPC, without TLS. */
  readonly address: string;
  spans(): Promise<ReceivedSpan[]>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startCollector({ dir, tls, signal }: CollectorOptions): Promise<Collector> {
  const command = await provideGoProgram('collector', {
    env: process.env,
    signal,
    progress: () => undefined,
  });
  await mkdir(dir, { recursive: true });
  const file = join(dir, 'spans.json');
  const files = tls && { cert_file: join(dir, 'tls.crt'), key_file: join(dir, 'tls.key') };
  if (tls && files) {
    await writeFile(files.cert_file, tls.cert);
    await writeFile(files.key_file, tls.key, { mode: 0o600 });
  }
  return withPortRetry(async () => {
    const [httpPort, grpcPort] = await freePorts(2);
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${httpPort}`;
    const address = `127.0.0.1:${grpcPort}`;
    const http = { endpoint: `127.0.0.1:${httpPort}`, ...(files ? { tls: files } : {}) };
    const configuration = {
      receivers: { otlp: { protocols: { http, grpc: { endpoint: address } } } },
      exporters: { file: { path: file, append: true, flush_interval: '50ms' } },
      service: {
        pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
        telemetry: { metrics: { level: 'none' } },
      },
    };
    await writeFile(join(dir, 'collector.json'), JSON.stringify(configuration));
    const daemon = new Daemon(
      {
        name: 'collector',
        command,
        args: [`--config=${join(dir, 'collector.json')}`],
        logFile: join(dir, 'collector.log'),
        pidFile: join(dir, 'collector.pid'),
        ready: async (polling) => {
          using client = new Client(url, tls ? { ca: tls.ca } : {}, 1);
          const request = { method: 'POST', body: {}, signal: polling } as const;
          return (await client.send('/v1/traces', request)).status === 200;
        },
      },
      () => undefined,
    );
    await daemon.start(signal);
    return {
      url,
      address,
      spans: async () => (existsSync(file) ? spansIn(await readFile(file, 'utf8')) : []),
      stop: () => daemon.stop(),
      start: () => daemon.start(signal),
      [Symbol.asyncDispose]: () => daemon.stop(),
    };
  });
}

/** `lines`: one export per line, in the JSON encoding of OTLP. */
function spansIn(lines: string): ReceivedSpan[] {
  const complete = lines.slice(0, lines.lastIndexOf('\n') + 1).split('\n');
  return complete
    .filter((line) => line !== '')
    .flatMap((line) => array(record(JSON.parse(line))['resourceSpans']))
    .flatMap((part) => {
      const resource = attributesOf(recordIn(part, 'resource'));
      const scopes = array(record(part)['scopeSpans']);
      return scopes
        .flatMap((scope) => array(record(scope)['spans']))
        .map((span) => received(record(span), resource));
    });
}

function received(span: Readonly<Record<string, unknown>>, resource: Attributes): ReceivedSpan {
  return {
    name: text(span['name']),
    kind: Number(span['kind']),
    traceID: text(span['traceId']),
    spanID: text(span['spanId']),
    parentID: text(span['parentSpanId']),
    isFailed: recordIn(span, 'status')['code'] === 2,
    startedAt: BigInt(text(span['startTimeUnixNano'])),
    endedAt: BigInt(text(span['endTimeUnixNano'])),
    attributes: attributesOf(span),
    events: array(span['events'])
      .map(record)
      .map((event) => ({
        name: text(event['name']),
        at: BigInt(text(event['timeUnixNano'])),
        attributes: attributesOf(event),
      })),
    links: array(span['links']).map((link) => text(record(link)['traceId'])),
    resource,
  };
}

function attributesOf(part: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(
    array(part['attributes']).map((attribute) => {
      const [kind, value] = Object.entries(recordIn(attribute, 'value'))[0] ?? [];
      const isNumber = kind === 'intValue' || kind === 'doubleValue';
      return [text(record(attribute)['key']), isNumber ? Number(value) : String(value)];
    }),
  );
}

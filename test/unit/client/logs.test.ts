// Tests of the logs of the client library, against the real handler of log queries and a scripted server.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Client, type LogExport, StatusError } from '../../../client/index.ts';
import { fileOf } from '../../../client/log-export.ts';
import { RepeatedLines } from '../../../client/repeated-lines.ts';
import { ANONYMOUS } from '../../../server/authentication/user.ts';
import { LogService, line } from '../../support/logging/log-service.ts';
import { MemoryLogStore } from '../../support/logging/memory-log-store.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { rejection } from '../../support/rejection.ts';

const RECORDS = [
  line('2026-11-20T10:00:00.000000000Z', 'INFO started'),
  line('2026-11-20T10:00:01.000000000Z', 'ERROR slow request'),
  line('2026-11-20T10:00:02.000000000Z', 'plain'),
];
const FORMATS = ['text', 'ndjson', 'json', 'csv'] as const;

describe('the logs of the client', () => {
  let service: LogService;
  let client: Client;

  beforeEach(async () => {
    const store = new MemoryLogStore(RECORDS);
    service = await new LogService({ store, user: ANONYMOUS, limits: { exportLines: 2 } }).start();
    client = new Client({ server: `http://127.0.0.1:${service.server.port}`, token: 'T' });
  });
  afterEach(() => service.stop());

  it('are paged by cursor, with highlights and severities', async () => {
    const query = { namespaces: ['shop'], log_query: 'slow', highlight: true, severity: true };
    const found = await client.logs.query(query);
    expect(found.records[0]).to.include({ log: 'ERROR slow request', severity: 'error' });
    expect(found.records[0]?.highlights).to.deep.equal([[6, 10]]);
    expect(found).to.include({ total: 1, totalRelation: 'eq' });

    const first = await client.logs.query({ size: 2 });
    const last = await client.logs.query({ size: 2, cursor: first.cursor });
    expect([...first.records, ...last.records].map(({ log }) => log)).to.deep.equal([
      'plain',
      'ERROR slow request',
      'INFO started',
    ]);
    expect(last.cursor).to.equal(undefined);
  });

  it('are counted by time and severity, and in total', async () => {
    const { histograms } = await client.logs.histogram({ interval: '1h', severity: true });
    expect(histograms[0]?.severities).to.include({ info: 1, error: 1, none: 1, fatal: 0 });
    expect(await client.logs.statistics()).to.include({ logs: 3, containers: 1 });
  });

  it('are counted by severity in buckets of a round width', async () => {
    const start_time = Date.parse('2026-11-20T10:00:00Z') / 1000;
    const range = { start_time, end_time: start_time + 600 };
    const { step, histograms, ...counted } = await client.logs.severities(range, 60);
    expect(counted).to.deep.include(range);
    expect(step).to.equal(10);
    expect(histograms[0]?.time).to.equal(start_time * 1000);
    expect(histograms[0]?.severities).to.include({ info: 1, error: 1, none: 1, fatal: 0 });
  });

  it('are counted without severities if the store cannot search for levels', async () => {
    const requested: string[] = [];
    const status = { kind: 'Status', code: 400, details: { causes: [{ field: 'severity', message: '' }] } };
    const histograms = [{ time: 5_000, count: 7 }];
    const found = { histogram: { total: 7, totalRelation: 'eq', histograms }, took: 1 };
    const fetch = async (input: unknown): Promise<Response> => {
      const { searchParams } = new URL(String(input));
      requested.push(`${searchParams.get('interval')} ${searchParams.get('severity')}`);
      return searchParams.has('severity') ? Response.json(status, { status: 400 }) : Response.json(found);
    };
    const other = new Client({ server: 'http://127.0.0.1', token: 'T', fetch });
    const counted = await other.logs.severities({ start_time: 0, end_time: 120 }, 120);
    expect(counted.histograms).to.deep.equal(histograms);
    expect(requested).to.deep.equal(['1s true', '1s null']);
  });

  it('have a context', async () => {
    const { records } = await client.logs.query({ log_query: 'slow' });
    const around = await client.logs.context(records[0]?.id ?? '', { before: 1, after: 0 });
    expect(around.records.map(({ log }) => log)).to.deep.equal(['INFO started', 'ERROR slow request']);
  });

  it('reject invalid parameters at their fields', async () => {
    const error = await rejection(client.logs.query({ size: 5_000 }));
    expect(error).to.be.instanceOf(StatusError);
    expect((error as StatusError).causes[0]?.field).to.equal('size');
  });

  for (const format of FORMATS) {
    it(`are exported as ${format}, and say when the file is incomplete`, async () => {
      const whole = await client.logs.export({ format, level: ['error', 'info'] });
      expect(await textOf(whole)).to.include('ERROR slow request');
      expect(whole.complete()).to.equal(true);
      expect(whole.name).to.match(/^logs-\d{8}T\d{6}Z\.\w+$/);

      const cut = await client.logs.export({ format });
      await textOf(cut);
      expect(cut.complete()).to.equal(false);
      expect(cut.shortfalls()).to.have.length(1);
      expect(cut.shortfalls()[0]).to.include({ reason: 'Limit' });
      expect(cut.shortfalls()[0]?.message).to.match(/^there are more .*=\d+, which repeats .* second$/);
    });
  }
});

describe('a live tail of the client', () => {
  let server: Server;
  let handle: RequestListener;
  let client: Client;

  beforeEach(async () => {
    server = createServer((request, response) => handle(request, response));
    await listenOnLoopback(server);
    client = new Client({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'T' });
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const event = (id: string): string => `id: ${id}\ndata: ${JSON.stringify({ id, log: id })}\n\n`;
  /** Serves one body for each connection; the last one stays open. */
  const serve = (...bodies: string[]): string[] => {
    const resumed: string[] = [];
    handle = ({ headers }, response) => {
      resumed.push(String(headers['last-event-id'] ?? ''));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write(bodies[resumed.length - 1] ?? ':\n');
      if (resumed.length < bodies.length) response.end();
    };
    return resumed;
  };

  it('resumes without repeated lines, but with equal lines of one connection', async () => {
    const position = 'event: position\nid: 0\ndata: {"time":"0"}\n\n';
    const resumed = serve(
      `${position}${event('1')}${event('2')}${event('2')}`,
      `${event('1')}${event('2')}${event('2')}${event('2')}${event('3')}`,
    );
    const seen: string[] = [];
    for await (const { log } of client.logs.tail()) {
      seen.push(log);
      if (log === '3') break;
    }
    expect(seen).to.deep.equal(['1', '2', '2', '2', '3']);
    expect(resumed).to.deep.equal(['', '2']);
  });

  it('restarts after a change of permissions, and reports it', async () => {
    const reasons: unknown[] = [];
    serve('event: failure\ndata: {"reason":"ScopeChanged","message":"changed"}\n\n', event('1'));
    const tail = client.logs.tail(
      {},
      { onConnection: (now) => void (now.state === 'waiting' && reasons.push(now.error)) },
    );
    for await (const { log } of tail) {
      expect(log).to.equal('1');
      break;
    }
    expect(reasons).to.have.length(1);
    expect(reasons[0]).to.be.instanceOf(StatusError).and.to.include({ reason: 'ScopeChanged' });
  });

  it('ends with an error at a limit', async () => {
    serve('event: failure\ndata: {"reason":"Limit","message":"too many lines"}\n\n');
    const error = await rejection(client.logs.tail().next());
    expect(error)
      .to.be.instanceOf(StatusError)
      .and.to.include({ reason: 'Limit', message: 'too many lines' });
  });

  it('caches a bounded number of lines', () => {
    const lines = new RepeatedLines(2);
    for (const id of ['a', 'b', 'c']) lines.isNew(id);
    lines.connected();
    expect(['b', 'c', 'a'].map((id) => lines.isNew(id))).to.deep.equal([false, false, true]);
  });
});

describe('the marker of an incomplete export', () => {
  const marked = {
    text: ['INFO \u0004 incomplete: X: no\n', '\u0004 incomplete: Timeout: too long\n'],
    ndjson: [
      '{"time":"1","log":"{\\"error\\":1}"}\n',
      '{"error":{"reason":"Timeout","message":"too long"}}\n',
    ],
    json: ['[\n{"time":"1"},\n', '{"error":{"reason":"Timeout","message":"too long"}}\n]\n'],
    csv: ['1,a,b,c,"x\r\nINCOMPLETE,,,,no"\r\n', 'INCOMPLETE,,,,"Timeout: too long"\r\n'],
  } as const;

  for (const format of FORMATS) {
    it(`is found in ${format} in pieces of any length, and not within lines`, async () => {
      const [lines, marker] = marked[format];
      for (const size of [1, 2, 7, 1_000]) {
        expect(await shortfallsOf(lines.repeat(3), format, size), `${size}`).to.deep.equal([]);
        const found = await shortfallsOf(`${lines}${'x'.repeat(5_000)}\n${marker}`, format, size);
        expect(found, `${size}`).to.deep.equal([{ reason: 'Timeout', message: 'too long' }]);
      }
    });
  }

  async function shortfallsOf(body: string, format: (typeof FORMATS)[number], size: number) {
    const file = fileOf(new Response(), piecesOf(new TextEncoder().encode(body), size), format);
    expect(await textOf(file)).to.equal(body);
    return file.shortfalls();
  }
});

async function* piecesOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function textOf({ body }: LogExport): Promise<string> {
  return await new Response(body as BodyInit).text();
}

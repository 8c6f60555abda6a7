// Tests of the spans of requests.
import { createServer } from 'node:http';
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import type { AppOptions } from '../../../../server/app.ts';
import { endpoint, newRouter } from '../../../../server/http/endpoint.ts';
import type { Handler, RequestContext } from '../../../../server/request/request-context.ts';
import { MAX_CALLS } from '../../../../server/tracing/request-trace.ts';
import { REQUESTED_SAMPLES, Sampler } from '../../../../server/tracing/sampler.ts';
import type { Span } from '../../../../server/tracing/span.ts';
import { ConnectionPool } from '../../../../server/upstream/connection-pool.ts';
import { abortableBy, send } from '../../../../server/upstream/send.ts';
import { closeNow, listenOnLoopback } from '../../../support/loopback.ts';
import { onlyFeature } from '../../../support/routed.ts';
import { ask, type ChainFixture, chainEach, NODES } from './chain-fixture.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;
const ok: Handler = ({ response }) => void response.end('ok');

describe('the trace of a request', () => {
  const start = chainEach();

  /** `rate`: the option `tracing.samplingRatePerMillion`. */
  async function traced(
    handler: Handler = ok,
    { rate = 0, ...options }: Partial<AppOptions> & { readonly rate?: number } = {},
  ) {
    const spans: Span[][] = [];
    const sampler = new Sampler({ ratePerMillion: rate, random: Math.random, monotonic: () => 0 });
    const chain = await start({
      handler,
      tracing: { sampler, spans: { add: (added) => void spans.push([...added]) } },
      ...options,
    });
    return { chain, spans };
  }

  const asAlice = (chain: ChainFixture, path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(chain, path, { method, headers: { 'test-user': 'alice', ...headers } });

  it('is one span, with attributes of the semantic conventions and the time of each filter', async () => {
    const { chain, spans } = await traced();
    const id = 'd0f1e2d3-0000-4000-8000-000000000000';
    await asAlice(chain, `${NODES}/n1?secret=s3cret`, { traceparent: SAMPLED, 'audit-id': id });
    const [[span] = []] = spans;
    expect(spans).to.have.length(1);
    expect(span).to.deep.include({
      name: `GET ${NODES}/{name}`,
      kind: 'server',
      traceID: TRACE,
      parent: { spanID: PARENT, isRemote: true },
      isFailed: false,
    });
    expect(span?.attributes).to.deep.equal({
      'http.request.method': 'GET',
      'url.scheme': 'https',
      'url.path': `${NODES}/n1`,
      'http.route': `${NODES}/{name}`,
      'http.response.status_code': 200,
      'audit-id': id,
      verb: 'get',
    });
    const names = span?.events.map(({ name }) => name) ?? [];
    const filters = ['requestInfo', 'authentication', 'admission', 'authorization'];
    expect(names.filter((name) => filters.includes(name))).to.deep.equal(filters);
    const times = [span?.startedAt ?? 0, ...(span?.events ?? []).map(({ at }) => at), span?.endedAt ?? 0];
    expect(times).to.deep.equal(times.toSorted((left, right) => left - right));
    expect(JSON.stringify(spans)).to.not.match(/s3cret|alice/);
  });

  it('continues in the calls that it makes, which are spans of their own', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      seen.push(headers['traceparent']?.toString());
      response.writeHead(404).end();
    });
    const port = await listenOnLoopback(server);
    const pool = new ConnectionPool({ url: new URL(`http://127.0.0.1:${port}/secret`) });
    const call = async ({ signal }: Pick<RequestContext, 'signal'>): Promise<void> => {
      const work = abortableBy(signal);
      const response = await send(pool, {
        method: 'GET',
        path: '/secret',
        headers: [],
        isRead: true,
        crowd: '',
        work,
      });
      await response.bytes({ maxBytes: 10, tooLong: () => new Error('too long') });
    };
    try {
      let late = Promise.resolve();
      const { chain, spans } = await traced(async (context) => {
        for (let i = 0; i <= MAX_CALLS; i++) await call(context);
        context.response.once('close', () => {
          late = Promise.resolve().then(() => call({ signal: AbortSignal.timeout(10_000) }));
        });
        context.response.end();
      });
      await asAlice(chain, NODES, { traceparent: SAMPLED });
      const [[span, ...calls] = []] = spans;
      expect(calls).to.have.length(MAX_CALLS);
      const last = `00-${TRACE}-${span?.spanID}-01`;
      expect(seen.slice(0, MAX_CALLS + 1)).to.deep.equal([
        ...calls.map(({ spanID }) => `00-${TRACE}-${spanID}-01`),
        last,
      ]);
      expect(calls[0]).to.deep.include({ name: 'GET', kind: 'client', traceID: TRACE, isFailed: true });
      expect(calls[0]?.parent).to.deep.equal({ spanID: span?.spanID, isRemote: false });
      expect(calls[0]?.attributes).to.deep.equal({
        'http.request.method': 'GET',
        'server.address': '127.0.0.1',
        'server.port': port,
        'http.response.status_code': 404,
        'error.type': '404',
      });
      expect(JSON.stringify(spans)).to.not.include('secret');
      // A call after the end of the request belongs to no trace.
      await late;
      expect(seen.at(-1)).to.equal(undefined);
    } finally {
      pool.retire();
      await closeNow(server);
    }
  });

  it('has a bounded number of routes, whatever paths clients invent', async () => {
    const router = newRouter();
    const mounted = newRouter();
    mounted.get('/codes/:code', endpoint(ok));
    router.use('/oauth', mounted);
    const { chain, spans } = await traced(ok, { rate: 1_000_000, routers: onlyFeature(router) });
    const paths = ['/oauth/codes/4711', '/oauth/4711', '/apis/4711.io/v1/namespaces/a/b'];
    for (const path of paths) await asAlice(chain, path);
    await asAlice(chain, NODES, {}, 'PROPFIND');
    expect(spans.map(([span]) => span?.name)).to.deep.equal([
      'GET /oauth/codes/:code',
      'GET',
      'GET',
      `_OTHER ${NODES}`,
    ]);
  });

  it('is marked as failed by a status of the server', async () => {
    const { chain, spans } = await traced(() => {
      throw newServiceUnavailable('the database has no password s3cret');
    });
    await asAlice(chain, NODES, { traceparent: SAMPLED });
    expect(spans[0]?.[0]).to.include({ isFailed: true });
    expect(spans[0]?.[0]?.attributes).to.include({ 'http.response.status_code': 503, 'error.type': '503' });
    expect(JSON.stringify(spans)).to.not.include('s3cret');
  });

  it('is in the log lines of a sampled request', async () => {
    const { chain } = await traced(({ log, response }) => {
      log.info('inside');
      response.end();
    });
    await asAlice(chain, NODES, { traceparent: SAMPLED }, 'POST');
    await asAlice(chain, NODES, { traceparent: UNSAMPLED });
    const ids = chain.lines.map(({ msg, trace_id: id }) => [msg, id]);
    expect(ids).to.deep.equal([
      ['inside', TRACE],
      ['request', TRACE],
      ['inside', undefined],
      ['request', undefined],
    ]);
    expect(chain.audited[0]).to.include({ trace_id: TRACE });
  });

  it('is sampled at the configured rate, unless the caller has decided against it', async () => {
    const { chain, spans } = await traced(ok, { rate: 1_000_000 });
    await asAlice(chain, NODES, { traceparent: UNSAMPLED });
    expect(spans).to.have.length(0);
    await asAlice(chain, NODES, { traceparent: 'malformed' });
    await ask(chain, NODES);
    expect(spans).to.have.length(2);
    expect(new Set(spans.map(([span]) => span?.traceID)).size).to.equal(2);
    expect(spans[0]?.[0]).to.include({ parent: undefined });
  });

  it('cannot be forced by a caller: not without credentials, nor more often than the limit', async () => {
    const { chain, spans } = await traced();
    await ask(chain, NODES, { headers: { traceparent: SAMPLED } });
    expect(spans).to.have.length(0);
    for (let i = 0; i < 3 * REQUESTED_SAMPLES.caller; i++) {
      // A trace ID by which samplers of other programs always decide for a sample.
      await asAlice(chain, NODES, { traceparent: `00-${'0'.repeat(31)}1-${PARENT}-01` });
    }
    expect(spans).to.have.length(REQUESTED_SAMPLES.caller);
  });

  it('costs nothing if tracing is disabled: no object of a trace exists', async () => {
    const contexts: RequestContext[] = [];
    const chain = await start({
      handler: (context) => {
        contexts.push(context);
        context.response.end();
      },
    });
    await asAlice(chain, NODES, { traceparent: SAMPLED });
    expect(contexts).to.have.length(1);
    expect(contexts[0]).to.have.property('trace', undefined);
    expect(chain.lines.at(-1)).to.not.have.property('trace_id');
  });
});

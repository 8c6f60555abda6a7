// Tests of the trace of forwarded requests and upgrades.
import { expect } from 'chai';
import { Sampler } from '../../../../server/tracing/sampler.ts';
import type { Span } from '../../../../server/tracing/span.ts';
import { ForwardingServer, readUntil } from '../../../support/gateway/forwarding-server.ts';
import { ScriptedUpstream } from '../../../support/gateway/scripted-upstream.ts';
import { until } from '../../../support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const POD = '/api/v1/namespaces/shop/pods/cart';
const OTHERS = ['tracestate: vendor=secret', 'baggage: user=ada'];

describe('the trace of a forwarded request', () => {
  let upstream: ScriptedUpstream;
  let server: ForwardingServer;
  let spans: Span[];

  async function start(tracing?: { readonly rate: number }): Promise<void> {
    upstream = await ScriptedUpstream.start();
    spans = [];
    const sampler = new Sampler({
      ratePerMillion: tracing?.rate ?? 0,
      random: Math.random,
      monotonic: () => performance.now(),
    });
    server = await ForwardingServer.start({
      cluster: () => upstream,
      ...(tracing ? { tracing: { sampler, spans: { add: (added) => void spans.push(...added) } } } : {}),
    });
  }
  afterEach(async () => {
    await server.stop();
    await upstream.stop();
  });

  /** The trace headers that kube-apiserver gets. */
  async function forwarded(lines: readonly string[], path = POD): Promise<Record<string, unknown>> {
    await server.exchange([`GET ${path} HTTP/1.1`, ...lines]);
    const { rawHeaders = [] } = upstream.received.at(-1) ?? {};
    const pairs = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1]]] : [],
    );
    const traced = pairs.filter(([name = '']) => ['traceparent', 'tracestate', 'baggage'].includes(name));
    expect(new Set(traced.map(([name]) => name)).size).to.equal(traced.length);
    return Object.fromEntries(traced);
  }

  it('continues the trace of the caller, without tracestate and baggage', async () => {
    await start({ rate: 0 });
    const headers = await forwarded([`Traceparent: 00-${TRACE}-${PARENT}-01`, ...OTHERS]);
    await until(() => spans.length === 2);
    const [served, call] = spans;
    expect(headers).to.deep.equal({ traceparent: `00-${TRACE}-${call?.spanID}-01` });
    expect(served?.name).to.equal('GET /api/v1/namespaces/{namespace}/pods/{name}');
    expect(served?.parent?.spanID).to.equal(PARENT);
    expect(call?.parent?.spanID).to.equal(served?.spanID);
  });

  it('begins here without a valid header, and the malformed one is not forwarded', async () => {
    await start({ rate: 0 });
    for (const header of ['', 'Traceparent: malformed', `Traceparent: 00-${TRACE}-${PARENT}-1`]) {
      const { traceparent } = await forwarded([...(header === '' ? [] : [header]), ...OTHERS]);
      expect(traceparent)
        .to.match(/^00-[\da-f]{32}-[\da-f]{16}-00$/)
        .and.not.include(TRACE);
    }
    const { traceparent } = await forwarded([
      `Traceparent: 00-${TRACE}-${PARENT}-01`,
      `Traceparent: 00-${TRACE}-${PARENT}-01`,
    ]);
    expect(traceparent).to.not.include(TRACE);
    expect(spans).to.have.length(0);
  });

  it('has the name of a resource only if kube-apiserver serves it', async () => {
    await start({ rate: 1_000_000 });
    upstream.respond = (_request, response) => void response.writeHead(404).end();
    await forwarded([], '/apis/4711.io/v1/namespaces/a/b4711');
    await until(() => spans.length === 2);
    expect(spans[0]?.name).to.equal('GET');
    expect(spans[0]?.attributes).to.not.have.property('http.route');
  });

  it('includes an upgrade', async () => {
    await start({ rate: 0 });
    upstream.upgrade = (_request, socket) =>
      void socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
      );
    const client = await server.send([
      `POST ${POD}/exec HTTP/1.1`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      `Traceparent: 00-${TRACE}-${PARENT}-01`,
      ...OTHERS,
    ]);
    await readUntil(client, '\r\n\r\n');
    client.destroy();
    await until(() => spans.length === 2);
    const [served, call] = spans;
    const { headers } = upstream.received[0] ?? {};
    expect(headers).to.include({ traceparent: `00-${TRACE}-${call?.spanID}-01` });
    expect(headers).to.not.have.any.keys('tracestate', 'baggage');
    expect(served?.attributes).to.include({
      'http.route': '/api/v1/namespaces/{namespace}/pods/{name}/exec',
      'http.response.status_code': 101,
    });
    expect(call?.attributes).to.include({ 'http.response.status_code': 101 });
  });

  it('is the business of caller and kube-apiserver alone if tracing is disabled', async () => {
    await start();
    const headers = { traceparent: 'malformed', tracestate: 'vendor=secret', baggage: 'user=ada' };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    expect(await forwarded(lines)).to.deep.equal(headers);
  });
});

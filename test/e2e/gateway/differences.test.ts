// Differential suite: sends the same bytes to kube-apiserver and through the gateway, with and without its acceleration,
// and compares status, headers and body.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ServerProcess } from '../../../hack/extension/server-process.ts';
import { until } from '../../support/until.ts';
import { BusyObjects } from './busy-objects.ts';
import type { ComparedRequest } from './compared-requests.ts';
import {
  CACHED_LISTS,
  cachedReads,
  discovery,
  errors,
  headers,
  methods,
  proxied,
  reads,
  targets,
  watches,
  writes,
} from './compared-requests.ts';
import { type GatewayPlatform, SIDES, type Side } from './gateway-platform.ts';
import { CACHED_DIFFERENCES, KNOWN_DIFFERENCES } from './known-differences.ts';
import { isHit, type RawResponse } from './raw-request.ts';
import { sharedGateway } from './shared-gateway.ts';
import { WebBackend } from './web-backend.ts';

const CONCURRENCY = 8;
const DIFFERENCES = [...KNOWN_DIFFERENCES, ...CACHED_DIFFERENCES];

describe('compared with kube-apiserver', () => {
  let gateway: GatewayPlatform;
  let backend: WebBackend;
  let tokens: Record<'admin' | 'nobody', string>;
  /** A server without the acceleration. */
  let forwarding: ServerProcess;
  let busy: BusyObjects;
  const observed = new Set<string>();
  let count = 0;
  let hits = 0;

  before(async () => {
    gateway = await sharedGateway();
    backend = await WebBackend.start(gateway.platform, 'backend');
    await gateway.createUser('nobody');
    tokens = { admin: await gateway.signIn('ada'), nobody: await gateway.signIn('nobody') };
    [forwarding, busy] = await Promise.all([
      gateway.platform.startReplica('forwarding', { gateway: { acceleration: false } }),
      BusyObjects.start(gateway.platform),
    ]);
    const isCached = async (path: string): Promise<boolean> =>
      isHit(await send('gateway', { lines: [`GET ${path}?resourceVersion=0 HTTP/1.1`] }));
    for (const path of CACHED_LISTS) await until(() => isCached(path));
  });

  after(async () => {
    await busy?.stop();
    await backend?.stop();
  });

  it('responds as kube-apiserver without the acceleration', async () => {
    const different = await Promise.all([
      compareAll(reads(gateway.pod), forwarding),
      compareAll(watches(), forwarding, watches().length),
    ]);
    expect(different.flat()).to.deep.equal([]);
    expect(hits).to.equal(0);
  });

  const groups: readonly (readonly [string, () => readonly ComparedRequest[]])[] = [
    ['reads', () => reads(gateway.pod)],
    ['reads that can be cached', () => cachedReads(gateway.pod)],
    ['discovery', discovery],
    ['errors', errors],
    ['targets', targets],
    ['methods', methods],
    ['headers', headers],
    ['requests for a backend', () => proxied(backend.path)],
  ];
  for (const [title, requests] of groups) {
    it(`responds as kube-apiserver to ${title}`, async () => {
      expect(await compareAll(requests(), 'gateway')).to.deep.equal([]);
    });
  }

  it('responds as kube-apiserver to watches', async () => {
    expect(await compareAll(watches(), 'gateway', watches().length)).to.deep.equal([]);
  });

  it('responds as kube-apiserver to writes', async () => {
    const requests = writes();
    const [direct = [], through = []] = await Promise.all(
      SIDES.map(async (side) => {
        const responses: RawResponse[] = [];
        for (const request of requests) responses.push(await send(side, request));
        return responses;
      }),
    );
    const different: object[] = [];
    requests.forEach((request, i) => compare(request, direct[i], through[i], different));
    expect(different).to.deep.equal([]);
  });

  it('compares at least 300 requests, and observes every known difference', () => {
    expect(count).to.be.at.least(300);
    expect([...observed].sort()).to.deep.equal(DIFFERENCES.map(({ title }) => title).sort());
  });

  it('compares at least 60 responses from a cache', () => {
    expect(hits).to.be.at.least(60);
  });

  /** Returns the unknown differences between the responses of kube-apiserver and those of `other`. */
  async function compareAll(
    requests: readonly ComparedRequest[],
    other: 'gateway' | ServerProcess,
    concurrency = CONCURRENCY,
  ): Promise<readonly object[]> {
    const queue = requests.values();
    const different: object[] = [];
    const work = async (): Promise<void> => {
      for (const request of queue) {
        const both = () => Promise.all([send('direct', request), send(other, request)]);
        let [direct, through] = await both();
        // In protobuf, the length of a version changes those of the messages around it, for example from 999 to 1000.
        for (let again = 0; again < 3 && versionLengths(direct) !== versionLengths(through); again++)
          [direct, through] = await both();
        compare(request, direct, through, different);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return different;
  }

  function send(
    side: Side | ServerProcess,
    { lines, body = '', caller = 'admin' }: ComparedRequest,
  ): Promise<RawResponse> {
    const own = (text: string): string => text.replaceAll('side-x', side === 'direct' ? 'side-d' : 'side-g');
    const bytes = typeof body === 'string' ? Buffer.from(own(body)) : body;
    const framed = lines.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
    const token = caller === 'invalid' ? 'invalid' : caller === 'anonymous' ? undefined : tokens[caller];
    return gateway.raw(
      side,
      [
        ...lines.map(own),
        ...(bytes.length > 0 && !framed ? [`Content-Length: ${bytes.length}`] : []),
        ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ],
      bytes,
    );
  }

  function compare(
    request: ComparedRequest,
    direct: RawResponse | undefined,
    through: RawResponse | undefined,
    different: object[],
  ): void {
    if (!direct || !through) throw new Error('no response');
    count++;
    if (isHit(through)) hits++;
    let expected = direct;
    for (const { title, explain } of DIFFERENCES) {
      const explained = explain({ request, direct: expected, gateway: through });
      if (!explained) continue;
      observed.add(title);
      expected = explained;
    }
    const difference = firstDifference(normalised(expected, request), normalised(through, request));
    if (difference)
      different.push({ request: request.lines.map((line) => line.slice(0, 200)), ...difference });
  }
});

/** The lines around the first difference. */
function firstDifference(direct: string, through: string): { direct: string; gateway: string } | undefined {
  if (direct === through) return undefined;
  let at = 0;
  while (direct[at] === through[at]) at++;
  const excerpt = (text: string): string => text.slice(Math.max(0, at - 100), at + 300);
  return { direct: excerpt(direct), gateway: excerpt(through) };
}

/** A resourceVersion in protobuf, with its tag and its length. */
// oxlint-disable-next-line no-control-regex -- the tag and the length of a protobuf field
const PROTOBUF_VERSION = /\x12[\x01-\x0a]\d{2,10}/g;

function versionLengths({ body }: RawResponse): string {
  return String(
    body
      .toString('latin1')
      .match(PROTOBUF_VERSION)
      ?.map(({ length }) => length),
  );
}

/** Replaces what differs between two equal requests: times, IDs and versions of objects, and the names of the sides. */
function normalised(response: RawResponse, { lines }: ComparedRequest): string {
  const { status, reason, headers: all, body } = response;
  const givenID = lines.find((line) => /^audit-id:/i.test(line));
  const isCompressed = all.some(([name, value]) => name === 'content-encoding' && value === 'gzip');
  const text = (isCompressed ? gunzipSync(body) : body)
    .toString('latin1')
    .replaceAll(/side-[dg]/g, 'side-x')
    .replaceAll(/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/g, 'UID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replaceAll(/"(?:\d+[dhms]){1,2}"/g, '"AGE"')
    // Each side sends bookmarks at its own times.
    .replaceAll(/{"type":"BOOKMARK",(?:(?!initial-events-end).)*\n/g, '')
    .replaceAll(/(resourceVersion[\\"]*: ?[\\"]*)\d+/g, '$1RV')
    .replaceAll(/("continue": ?)"[^"]+"/g, '$1"TOKEN"')
    // In CBOR and protobuf.
    .replaceAll(/resourceVersion[\x41-\x4a\x61-\x6a]\d+/g, 'resourceVersionRV')
    .replaceAll(PROTOBUF_VERSION, '\x12RV')
    // In the errors of a future and of an old version.
    .replaceAll(/current: \d+/g, 'current: RV')
    .replaceAll(/(too old resource version: \d+) \(\d+\)/g, '$1 (RV)');
  const kept = all
    .filter(([name]) => name !== 'date' && (name !== 'audit-id' || givenID !== undefined))
    .filter(([name, value]) => name !== 'content-length' || Number(value) !== body.length)
    // kube-apiserver generates OpenAPI documents after a change at the next request.
    .map(([name, value]) => `${name}: ${name === 'last-modified' ? 'TIME' : value}`)
    .sort();
  return [`${status} ${reason}`, ...kept, '', text].join('\n');
}

// Known differences between a response of kube-apiserver and the same response through the gateway. The tables of
// docs/kube-apiserver-differences.md list the same differences.
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { SANDBOX } from '../../../server/request/gateway-route.ts';
import type { ComparedRequest } from './compared-requests.ts';
import { isHit, type RawResponse } from './raw-request.ts';

interface Compared {
  readonly request: ComparedRequest;
  readonly direct: RawResponse;
  readonly gateway: RawResponse;
}

interface KnownDifference {
  /** The first cell of its row in the documentation. */
  readonly title: string;
  /** Returns the response of kube-apiserver changed by this difference; undefined if it does not apply. */
  readonly explain: (compared: Compared) => RawResponse | undefined;
}

type Header = readonly [string, string];

/** The methods that Node parses. CONNECT has a row of its own. */
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT|PROPFIND|LINK|PURGE|QUERY) /;
const FORWARDED = /^[A-Z]+ \/(?:apis?|openapi\/v[23]|version)(?:[/?#]| |$)/;

/** Outside of the rest of a proxy path: empty and dot segments, escaped slashes and controls, malformed escapes, raw semicolons. */
const AMBIGUOUS =
  /^[A-Z]+ (?!\S*\/proxy\/)(?:\/[^?]*(?:\/\/|\/(?:\.|%2e){1,2}(?:[/ ?]|$)|%2f|%00|%ff|%(?![\da-f]{2})|[\\#])|\S*\?\S*(?:;|%(?![\da-f]{2})))/i;

/** In this order: a response of the gateway itself first, then single headers. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    title: 'HTTP version',
    explain: ({ request, gateway }) =>
      gateway.status === 400 && !/ HTTP\/1\.[01]$/.test(firstLine(request)) ? gateway : undefined,
  },
  {
    title: 'Unknown methods',
    explain: ({ request, gateway }) =>
      gateway.status === 400 && !METHOD.test(firstLine(request)) ? gateway : undefined,
  },
  {
    title: '`CONNECT`',
    explain: ({ request, gateway }) =>
      firstLine(request).startsWith('CONNECT ') && gateway.status === 405 ? gateway : undefined,
  },
  {
    title: 'Other paths',
    explain: ({ request, gateway }) =>
      [400, 404].includes(gateway.status) &&
      METHOD.test(firstLine(request)) &&
      !FORWARDED.test(firstLine(request))
        ? gateway
        : undefined,
  },
  {
    title: 'Ambiguous targets',
    explain: ({ request, gateway }) =>
      gateway.status === 400 && AMBIGUOUS.test(firstLine(request)) ? gateway : undefined,
  },
  {
    title: 'Other credentials',
    explain: ({ request, gateway }) =>
      gateway.status === 401 && request.lines.some((line) => /^authorization: (?!bearer [^ ]+$)/i.test(line))
        ? gateway
        : undefined,
  },
  {
    title: '`Upgrade` without a stream',
    explain: ({ request: { lines }, direct, gateway }) =>
      direct.status === 200 &&
      lines.includes('Connection: Upgrade') &&
      gateway.status === (lines.includes('Upgrade: h2c') ? 400 : 502)
        ? gateway
        : undefined,
  },
  {
    title: '`Expect`',
    explain: ({ request, direct, gateway }) =>
      direct.status === 417 && gateway.status === 200 && request.lines.includes('Expect: other')
        ? gateway
        : undefined,
  },
  {
    title: 'Reason phrase',
    explain: ({ direct, gateway }) =>
      direct.status === gateway.status && direct.reason !== gateway.reason && isOwn(gateway)
        ? { ...direct, reason: gateway.reason }
        : undefined,
  },
  {
    title: '`X-Kubernetes-PF-*`',
    explain: ({ direct, gateway }) =>
      isOwn(gateway) ? without(direct, ([name]) => name.startsWith('x-kubernetes-pf-')) : undefined,
  },
  {
    title: '`X-Content-Type-Options`',
    explain: ({ direct, gateway }) => added(direct, gateway, 'x-content-type-options', 'nosniff'),
  },
  {
    title: '`WWW-Authenticate`',
    explain: ({ direct, gateway }) =>
      gateway.status === 401
        ? added(direct, gateway, 'www-authenticate', 'Bearer error="invalid_token"')
        : undefined,
  },
  {
    title: '`Audit-ID`',
    explain: ({ request, direct, gateway }) => {
      const given =
        request.lines.find((line) => line.startsWith('Audit-ID: '))?.slice('Audit-ID: '.length) ?? '';
      const own = gateway.headers.find(([name]) => name === 'audit-id');
      if (given === '' || /^[\w.-]{1,64}$/.test(given) || !own) return undefined;
      return withHeaders(direct, [...direct.headers.filter(([name]) => name !== 'audit-id'), own]);
    },
  },
  {
    title: '`Content-Security-Policy`',
    explain: ({ direct, gateway }) => added(direct, gateway, 'content-security-policy', SANDBOX[1]),
  },
  {
    title: '`Set-Cookie`, `Clear-Site-Data` and other headers of a backend',
    explain: ({ direct }) => without(direct, ([name]) => name === 'clear-site-data' || name === 'set-cookie'),
  },
  {
    title: '`Location`',
    explain: ({ request, direct }) =>
      firstLine(request).includes('/redirect ')
        ? without(direct, ([name, value]) => name === 'location' && value === 'https://other.example/')
        : undefined,
  },
  {
    title: '`Content-Type`',
    explain: ({ direct, gateway }) => {
      const types = direct.headers.filter(([name]) => name === 'content-type');
      if (types.length === 1) return undefined;
      const untyped = withHeaders(
        direct,
        direct.headers.filter(([name]) => name !== 'content-type'),
      );
      return added(untyped, gateway, 'content-type', 'application/octet-stream');
    },
  },
  {
    title: '`Connection`, `Keep-Alive`, `Transfer-Encoding`',
    explain: ({ direct, gateway }) => {
      const own = ({ headers }: RawResponse): Header[] => headers.filter(([name]) => OF_CONNECTION.has(name));
      if (String(own(direct)) === String(own(gateway))) return undefined;
      return withHeaders(direct, [
        ...direct.headers.filter(([name]) => !OF_CONNECTION.has(name)),
        ...own(gateway),
      ]);
    },
  },
];

/** Differences of responses from a cache. */
export const CACHED_DIFFERENCES: readonly KnownDifference[] = [
  {
    title: '`Cache-Status`, `Age`',
    explain: ({ direct, gateway }) => {
      const own = gateway.headers.filter(([name]) => name === 'cache-status' || name === 'age');
      const isKnown = direct.headers.some(([name]) => name === 'cache-status');
      return own.length > 0 && !isKnown ? withHeaders(direct, [...direct.headers, ...own]) : undefined;
    },
  },
  {
    title: '`X-Kubernetes-PF-*` of a cached read',
    explain: ({ direct, gateway }) =>
      isHit(gateway) ? without(direct, ([name]) => name.startsWith('x-kubernetes-pf-')) : undefined,
  },
  {
    title: '`Warning` about a deprecated version',
    explain: ({ direct, gateway }) =>
      isHit(gateway)
        ? without(direct, ([name, value]) => name === 'warning' && / is deprecated in /.test(value))
        : undefined,
  },
  {
    title: 'client that accepts protobuf and JSON',
    explain: ({ request, direct, gateway }) =>
      isHit(gateway) &&
      typeOf(direct) === PROTOBUF &&
      request.lines.includes(`Accept: ${PROTOBUF}, ${JSON_TYPE}`)
        ? gateway
        : undefined,
  },
  {
    title: '`Accept-Encoding` with parameters',
    explain: ({ request, direct, gateway }) =>
      isHit(gateway) &&
      request.lines.includes('Accept-Encoding: gzip;q=0.5') &&
      direct.status === gateway.status &&
      gunzipSync(gateway.body).length === direct.body.length
        ? gateway
        : undefined,
  },
  {
    title: 'body for browsers and curl, without `pretty`',
    explain: ({ request, direct, gateway }) =>
      isHit(gateway) && request.lines.some((line) => line.startsWith('User-Agent: curl'))
        ? withJSON(direct, gateway)
        : undefined,
  },
  {
    title: 'order of the members of custom resources and their lists',
    explain: ({ request, direct, gateway }) =>
      isHit(gateway) && firstLine(request).includes('/widgets') ? withJSON(direct, gateway) : undefined,
  },
];

/** Differences of cached responses that the comparison cannot observe at each run. */
export const NORMALISED_DIFFERENCES: readonly string[] = [
  '`resourceVersion` of a list with `resourceVersion=0`',
  'cells of Tables of pods and nodes',
  'bookmarks',
];

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

function typeOf({ headers }: RawResponse): string | undefined {
  return headers.find(([name]) => name === 'content-type')?.[1];
}

/** Uses the body of the gateway if its JSON differs in white space and the order of members only. */
function withJSON(direct: RawResponse, gateway: RawResponse): RawResponse | undefined {
  if (typeOf(direct) !== JSON_TYPE || direct.body.equals(gateway.body)) return undefined;
  // The second can change between both responses.
  const [theirs, ours] = [direct, gateway].map(({ body }) =>
    JSON.parse(body.toString().replaceAll(/"(?:\d+[dhms]){1,2}"/g, '"AGE"')),
  );
  if (theirs.metadata?.resourceVersion && (theirs.items ?? theirs.rows))
    theirs.metadata.resourceVersion = ours.metadata.resourceVersion;
  return isDeepStrictEqual(theirs, ours) ? { ...direct, body: gateway.body } : undefined;
}

const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function firstLine({ lines }: ComparedRequest): string {
  return lines[0] ?? '';
}

/** Returns true for an error of the gateway itself. kube-apiserver rejects some requests without flow control too. */
function isOwn({ status, headers }: RawResponse): boolean {
  return status >= 400 && !headers.some(([name]) => name.startsWith('x-kubernetes-pf-'));
}

function withHeaders(response: RawResponse, headers: readonly Header[]): RawResponse {
  return { ...response, headers };
}

function without(response: RawResponse, matches: (header: Header) => boolean): RawResponse | undefined {
  return response.headers.some(matches)
    ? withHeaders(
        response,
        response.headers.filter((header) => !matches(header)),
      )
    : undefined;
}

/** Adds a header that only the gateway sends. */
function added(
  direct: RawResponse,
  gateway: RawResponse,
  name: string,
  value: string,
): RawResponse | undefined {
  const isIt = (header: Header): boolean => header[0] === name && header[1] === value;
  if (direct.headers.some(isIt) || !gateway.headers.some(isIt)) return undefined;
  return withHeaders(direct, [...direct.headers, [name, value]]);
}

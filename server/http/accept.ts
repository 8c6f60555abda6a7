// Content negotiation: selects the representation of a response by the Accept header.
import { newNotAcceptable } from '../../apis/meta/v1/errors.ts';

interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Maximum number of clauses, and of parameters in a clause. Further ones are ignored; no known client sends as many.
 */
const MAX_CLAUSES = 64;
const MAX_PARTS = 16;

function clause(text: string): AcceptClause | undefined {
  const [media = '', ...rest] = text.trim().split(';', MAX_PARTS);
  const [type = '', subtype = type.trim() === '*' ? '*' : '', ...more] = media.split('/', 3);
  if (subtype.trim() === '' || more.length > 0) return undefined;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [key = '', value = '', ...tail] = parameter.split('=', 3);
    if (value !== '' && tail.length === 0) parameters.set(key.trim(), value.trim());
  }
  const quality = parameters.get('q');
  parameters.delete('q');
  return {
    type: type.trim(),
    subtype: subtype.trim(),
    quality: quality === undefined ? 1 : Number.parseFloat(quality) || 0,
    parameters,
  };
}

/**
 * Returns the valid clauses in the order of preference: by quality, then exact media types before wildcards, then in
 * the order of the header.
 */
export function parseAccept(header: string): AcceptClause[] {
  const wildcards = (one: AcceptClause): number => (one.type === '*' ? 2 : one.subtype === '*' ? 1 : 0);
  return header
    .split(',', MAX_CLAUSES)
    .map(clause)
    .filter((one) => one !== undefined)
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

/** Returns true if the clause accepts `application/json`. Case-sensitive, as in kube-apiserver. */
export function acceptsJSON({ type, subtype }: AcceptClause): boolean {
  if (type === 'application') return subtype === 'json' || subtype === '*';
  return type === '*' && subtype === '*';
}

/** Browsers send `text/html` in Accept when they navigate; most other programs do not. */
export function acceptsHTML(accept = ''): boolean {
  return parseAccept(accept).some(({ type, subtype }) => type === 'text' && subtype === 'html');
}

/** Returns true if the client names Server-Sent Events, and does not prefer JSON. */
export function acceptsEvents(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('event-stream')) return false;
  const isEvents = ({ type, subtype }: AcceptClause): boolean =>
    type === 'text' && subtype === 'event-stream';
  const preferred = parseAccept(accept).find((one) => isEvents(one) || acceptsJSON(one));
  return preferred !== undefined && isEvents(preferred);
}

/** A conversion of objects that a client requests, for example `as=Table;g=meta.k8s.io;v=v1`. */
export interface Conversion {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface MediaType {
  /** Undefined for unconverted objects. */
  readonly conversion: Conversion | undefined;
  readonly pretty: boolean;
}

export const PLAIN_JSON: MediaType = { conversion: undefined, pretty: false };

function conversionOf(parameters: ReadonlyMap<string, string>): Conversion | undefined {
  const kind = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  return { kind: kind ?? '', group: group ?? '', version: version ?? '' };
}

/**
 * Returns the preferred media type for which `allows` is true. The argument of `allows` is undefined for unconverted
 * objects. Ignores unsupported media types such as protobuf. Throws NotAcceptable if no media type is left.
 */
export function negotiate(
  header: string | undefined,
  allows: (conversion: Conversion | undefined) => boolean,
): MediaType {
  if ((header === undefined || header === '') && allows(undefined)) return PLAIN_JSON;
  for (const one of parseAccept(header ?? '')) {
    if (!acceptsJSON(one)) continue;
    const stream = one.parameters.get('stream');
    // `sv` is a version of the group `meta.k8s.io`. Only v1 exists.
    if ((one.parameters.get('sv') ?? 'v1') !== 'v1' || (stream ?? 'watch') !== 'watch') continue;
    const conversion = conversionOf(one.parameters);
    if (allows(conversion)) return { conversion, pretty: one.parameters.get('pretty') === '1' };
  }
  throw newNotAcceptable(['application/json']);
}

// Negotiation of the Accept header: which representation a client accepts and prefers.
import { newNotAcceptable } from '../../apis/meta/v1/errors.ts';

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** More clauses and parameters than any client sends; the rest is ignored. */
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

/** Returns the usable clauses, best first; of equal quality exact ones before wildcards, then in the given order. */
export function parseAccept(header: string): AcceptClause[] {
  const wildcards = (one: AcceptClause): number => (one.type === '*' ? 2 : one.subtype === '*' ? 1 : 0);
  return header
    .split(',', MAX_CLAUSES)
    .map(clause)
    .filter((one) => one !== undefined)
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

/** Whether the clause accepts `application/json`. Case-sensitive, as in kube-apiserver. */
export function acceptsJSON({ type, subtype }: AcceptClause): boolean {
  if (type === 'application') return subtype === 'json' || subtype === '*';
  return type === '*' && subtype === '*';
}

/** A representation that a client requests: `as=Table;g=meta.k8s.io;v=v1`. */
export interface Conversion {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface MediaType {
  /** Undefined for the object itself. */
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
 * Returns the first accepted representation for which `allows` is true; `allows(undefined)` stands for the object
 * itself. Throws NotAcceptable without one. Skips unsupported media types such as protobuf.
 */
export function negotiate(
  header: string | undefined,
  allows: (conversion: Conversion | undefined) => boolean,
): MediaType {
  if ((header === undefined || header === '') && allows(undefined)) return PLAIN_JSON;
  for (const one of parseAccept(header ?? '')) {
    if (!acceptsJSON(one)) continue;
    const stream = one.parameters.get('stream');
    // `sv`: version of the group `meta.k8s.io`; only v1 exists.
    if ((one.parameters.get('sv') ?? 'v1') !== 'v1' || (stream ?? 'watch') !== 'watch') continue;
    const conversion = conversionOf(one.parameters);
    if (allows(conversion)) return { conversion, pretty: one.parameters.get('pretty') === '1' };
  }
  throw newNotAcceptable(['application/json']);
}

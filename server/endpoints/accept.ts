// The Accept header: which of our forms of an answer a client takes, and in which it wants it first.
import { newNotAcceptable } from '../../apis/meta/v1/errors.ts';

export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** More clauses, or parts of one, than any client sends; what comes behind them is not looked at. */
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

/** The clauses that can be used at all, best first; among equals exact ones before wildcards, then as written. */
export function parseAccept(header: string): AcceptClause[] {
  const wildcards = (one: AcceptClause): number => (one.type === '*' ? 2 : one.subtype === '*' ? 1 : 0);
  return header
    .split(',', MAX_CLAUSES)
    .map(clause)
    .filter((one) => one !== undefined)
    .filter((one) => one.quality > 0)
    .sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

/** Whether the clause takes `application/json`. Case matters, as in kube-apiserver. */
export function takesJSON({ type, subtype }: AcceptClause): boolean {
  if (type === 'application') return subtype === 'json' || subtype === '*';
  return type === '*' && subtype === '*';
}

/** A form in which an object can be asked for: `as=Table;g=meta.k8s.io;v=v1`. */
export interface Conversion {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface MediaType {
  /** Undefined when the object is wanted as it is. */
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
 * The first form that the client takes and `allows` accepts (asked with undefined for the object as it is).
 * Throws NotAcceptable when there is none. Media types that we do not write, protobuf for one, are passed over.
 */
export function negotiate(
  header: string | undefined,
  allows: (conversion: Conversion | undefined) => boolean,
): MediaType {
  if ((header === undefined || header === '') && allows(undefined)) return PLAIN_JSON;
  for (const one of parseAccept(header ?? '')) {
    if (!takesJSON(one)) continue;
    const stream = one.parameters.get('stream');
    // `sv`: of the group `meta.k8s.io`, of which there is only this one.
    if ((one.parameters.get('sv') ?? 'v1') !== 'v1' || (stream ?? 'watch') !== 'watch') continue;
    const conversion = conversionOf(one.parameters);
    if (allows(conversion)) return { conversion, pretty: one.parameters.get('pretty') === '1' };
  }
  throw newNotAcceptable(['application/json']);
}

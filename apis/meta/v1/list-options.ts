// Decoder of the query parameters of get, list and watch, as in kube-apiserver. Exception: a non-numeric
// resourceVersion is rejected with 400 for every verb.
import { parseInt64, parseLooseBoolean, parseUint64 } from '../../reading/go-number.ts';
import { goQuoted } from '../../reading/go-quote.ts';
import { messageOf } from '../../reading/thrown-value.ts';
import { newBadRequest, newInvalid } from './errors.ts';
import { type FieldRequirement, parseFieldSelector } from './field-selector.ts';
import { EVERY_LABEL, type LabelSelector, parseLabelSelector } from './label-selector.ts';
import { MAX_REQUIREMENTS } from './label-selector-parser.ts';
import type { StatusCause } from './status.ts';

type ResourceVersionMatch = '' | 'Exact' | 'NotOlderThan';

export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: readonly FieldRequirement[];
  /** The resourceVersion as decimal digits, or empty. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: ResourceVersionMatch;
  /** Number of objects per page; 0 for all objects. */
  readonly limit: number;
  readonly continue: string;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  /** Timeout in seconds; undefined for the default. A watch with a negative timeout ends immediately. */
  readonly timeoutSeconds: number | undefined;
}

const KNOWN_MATCHES: readonly string[] = ['', 'Exact', 'NotOlderThan'] satisfies ResourceVersionMatch[];

function read<Value>(
  query: URLSearchParams,
  name: string,
  parse: (text: string) => Value,
): Value | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  try {
    return parse(text);
  } catch (error) {
    throw newBadRequest(messageOf(error));
  }
}

/** Returns the parameter resourceVersion: decimal digits, or empty. Throws BadRequest for any other value. */
export function readResourceVersion(query: URLSearchParams): string {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return text;
  try {
    return String(parseUint64(text));
  } catch (error) {
    throw newBadRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuoted(text)}: ${messageOf(error)}`,
    );
  }
}

function clamped(value: bigint): number {
  return Number(BigInt.asIntN(53, value) === value ? value : value < 0n ? -(2n ** 52n) : 2n ** 52n);
}

const forbidden = (field: string, why: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

function unsupported(match: string, supported: readonly string[]): StatusCause {
  const values = supported.map(goQuoted).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${goQuoted(match)}: supported values: ${values}`,
    field: 'resourceVersionMatch',
  };
}

interface Combination {
  readonly match: string;
  readonly resourceVersion: string;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
}

function listErrors(options: Combination): StatusCause[] {
  const { match } = options;
  const errors: StatusCause[] = [];
  const forbid = (why: string): void => {
    errors.push(forbidden('resourceVersionMatch', why));
  };
  if (match !== '') {
    if (options.resourceVersion === '') {
      forbid('resourceVersionMatch is forbidden unless resourceVersion is provided');
    }
    if (options.continue !== '') forbid('resourceVersionMatch is forbidden when continue is provided');
    if (!KNOWN_MATCHES.includes(match)) errors.push(unsupported(match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && options.resourceVersion === '0') {
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

function watchErrors(options: Combination): StatusCause[] {
  const { match, sendInitialEvents } = options;
  const errors: StatusCause[] = [];
  const forbid = (why: string): void => {
    errors.push(forbidden('resourceVersionMatch', why));
  };
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    forbid('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      forbid('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
    if (match !== 'NotOlderThan') errors.push(unsupported(match, ['NotOlderThan']));
  }
  // kube-apiserver sets NotOlderThan for a watch with initial events before it validates.
  const hasInitialEvents = sendInitialEvents === undefined && ['', '0'].includes(options.resourceVersion);
  if (options.continue !== '' && (match !== '' || hasInitialEvents)) {
    forbid('resourceVersionMatch is forbidden when continue is provided');
  }
  return errors;
}

function reject(errors: readonly StatusCause[]): void {
  if (errors.length === 0) return;
  const texts = new Set(errors.map((error) => `${error.field}: ${error.message}`));
  throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, errors, [...texts]);
}

/** Returns whether kube-apiserver can decode the parameters. Otherwise it ignores them for the authorization. */
export function areDecodable(query: URLSearchParams): boolean {
  try {
    decode(query);
    return true;
  } catch {
    return false;
  }
}

/** The order is that of kube-apiserver, so that the same error is reported if there are several. */
function decode(query: URLSearchParams) {
  return {
    timeout: read(query, 'timeoutSeconds', parseInt64),
    limit: read(query, 'limit', parseInt64) ?? 0n,
    labelSelector: read(query, 'labelSelector', parseLabelSelector) ?? EVERY_LABEL,
    fieldSelector: read(query, 'fieldSelector', parseFieldSelector) ?? [],
  };
}

/**
 * Reads the options. Throws BadRequest for an invalid value, and Invalid for an invalid combination. `watch`: from the
 * RequestInfo, for which the request was authorized.
 */
export function readListOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const { timeout, limit, labelSelector, fieldSelector } = decode(query);
  if (labelSelector.requirements.length + fieldSelector.length > MAX_REQUIREMENTS) {
    throw newBadRequest(`a selector may have at most ${MAX_REQUIREMENTS} requirements`);
  }
  const sendInitialEvents = read(query, 'sendInitialEvents', parseLooseBoolean);
  const combination: Combination = {
    match: query.get('resourceVersionMatch') ?? '',
    resourceVersion: readResourceVersion(query),
    continue: query.get('continue') ?? '',
    sendInitialEvents,
  };
  reject(watch ? watchErrors(combination) : listErrors(combination));
  return {
    labelSelector,
    fieldSelector,
    resourceVersion: combination.resourceVersion,
    resourceVersionMatch: combination.match as ResourceVersionMatch,
    limit: limit > 0n ? clamped(limit) : 0,
    continue: combination.continue,
    allowWatchBookmarks: read(query, 'allowWatchBookmarks', parseLooseBoolean) ?? false,
    sendInitialEvents,
    timeoutSeconds: timeout === undefined || timeout === 0n ? undefined : clamped(timeout),
  };
}

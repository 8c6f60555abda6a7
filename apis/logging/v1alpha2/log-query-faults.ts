// What is wrong with a query of which each parameter may be right by itself. What a text means is the matcher's business,
// and what was handed out is the server's, so their faults are asked for.
import type { ParameterNames } from '../../meta/v1/query-decoder.ts';
import { quoted } from '../../meta/v1/query-faults.ts';
import type { StatusCause } from '../../meta/v1/status.ts';
import { type LogQuery, MAX_DEPTH, MAX_TEXT, MAX_TEXTS, type MatchMode } from './log-query.ts';
import { textSearchOf } from './log-text-search.ts';

/** What texts are made of is not known here. */
export interface TextRules {
  readonly hasWord: (text: string) => boolean;
  /** Why no line can be asked for by these texts, each reason with the text that it is about; none when lines can. */
  faults(
    mode: MatchMode,
    texts: readonly string[],
  ): readonly { readonly text: string; readonly fault: string }[];
}

/** What only the server can find wrong, by parameter; undefined when nothing is. */
export interface ServerRules {
  /** Of what it has handed out itself. */
  readonly cursor?: (text: string) => string | undefined;
  readonly context?: (text: string) => string | undefined;
  /** Of how many buckets a histogram would have. */
  readonly interval?: (query: LogQuery) => string | undefined;
}

/** What one parameter says about another, what texts are made of, and what only the server knows. */
export function contradictionsIn(
  query: LogQuery,
  names: ParameterNames,
  { texts, server }: { readonly texts: TextRules; readonly server: ServerRules },
): StatusCause[] {
  return [
    ...timeFaults(query),
    ...depthFaults(query, names),
    ...faultsOfTexts(query, names, texts),
    ...faultsOfHandedOut(query, server),
    ...faultsOfBuckets(query, names, server),
    ...misfits(query, names),
  ];
}

function timeFaults({ start_time: start, end_time: end }: LogQuery): StatusCause[] {
  if (start === undefined || end === undefined || start <= end) return [];
  return [invalid('end_time', `${end} is before start_time, ${start}`)];
}

/** Where lines are skipped at all: consoles send `from` and `size` with everything else too. */
function depthFaults(
  { operation, from, size, context, follow }: LogQuery,
  { refused }: ParameterNames,
): StatusCause[] {
  if (['operation', 'size', 'context', 'follow'].some((name) => refused.has(name))) return [];
  if (operation !== 'query' || context !== undefined || follow || from + size <= MAX_DEPTH) return [];
  const why = `${from} with a size of ${size} is deeper than ${MAX_DEPTH} lines; deeper pages go by cursor`;
  return [invalid('from', why)];
}

function faultsOfTexts(query: LogQuery, { refused }: ParameterNames, rules: TextRules): StatusCause[] {
  if (refused.has('match')) return [];
  const { mode, texts } = textSearchOf(query, rules.hasWord);
  if (query.log_query !== undefined && texts.length === 0) {
    return [invalid('log_query', `${quoted(query.log_query)} has no text between its commas`)];
  }
  if (texts.length > MAX_TEXTS) {
    const why = `has more than ${MAX_TEXTS} texts between its commas; with match=substring a comma is a comma`;
    return [invalid('log_query', why)];
  }
  const long = texts.filter((text) => text.length > MAX_TEXT);
  const fault = `is longer than ${MAX_TEXT} characters; ask for a part of it`;
  const faults = long.length > 0 ? long.map((text) => ({ text, fault })) : rules.faults(mode, texts);
  return faults.map((each) => invalid('log_query', `${quoted(each.text)} ${each.fault}`));
}

function faultsOfHandedOut(query: LogQuery, faultOf: ServerRules): StatusCause[] {
  return (['cursor', 'context'] as const).flatMap((parameter) => {
    const { [parameter]: text } = query;
    const fault = text === undefined ? undefined : faultOf[parameter]?.(text);
    return fault === undefined ? [] : [invalid(parameter, fault)];
  });
}

function faultsOfBuckets(query: LogQuery, { refused }: ParameterNames, rules: ServerRules): StatusCause[] {
  if (query.operation !== 'histogram' || refused.has('interval') || refused.has('end_time')) return [];
  const fault = rules.interval?.(query);
  return fault === undefined ? [] : [invalid('interval', fault)];
}

/**
 * Parameters that cannot stand together. Consoles send `interval`, `sort`, `from` and `size` with every operation, so
 * those, where they mean nothing, are let go.
 */
function misfits(query: LogQuery, { given, refused }: ParameterNames): StatusCause[] {
  const faults: StatusCause[] = [];
  const clash = (parameter: string, why: string): void => {
    if (given.has(parameter)) faults.push(invalid(parameter, why));
  };
  const { operation } = query;
  if (operation !== 'query') {
    clash('cursor', `goes with operation=query only, not with ${operation}`);
    clash('context', `goes with operation=query only, not with ${operation}`);
    if (query.follow) clash('follow', `goes with operation=query only, not with ${operation}`);
  }
  if (operation !== 'export' && !refused.has('operation')) clash('format', 'goes with operation=export only');
  if (operation === 'export' && query.highlight) clash('highlight', 'does not go with operation=export');
  if (given.has('cursor') && query.from > 0) {
    clash('from', 'does not go with cursor, which says itself where the page begins');
  }
  if (given.has('context')) clash('cursor', 'does not go with context');
  else if (!refused.has('context')) {
    for (const name of ['before', 'after']) clash(name, 'goes with context only');
  }
  if (query.follow) {
    clash('end_time', 'does not go with follow, which ends when the caller leaves');
    for (const name of ['cursor', 'context']) clash(name, 'does not go with follow');
    if (query.from > 0) clash('from', 'does not go with follow');
  }
  return faults;
}

function invalid(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', message, field };
}

// Parser of JSON from untrusted peers. JSON.parse blocks the event loop, and its time depends on the number of values: 5 MB
// of `[` take seconds. JSON with too many values is rejected before it is parsed.

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from './json-bytes.ts';

export interface JSONLimits {
  /** An array, an object and a member of an object cost STRUCTURE_COST, an item of an array costs 1. */
  readonly maxCost?: number | undefined;
  readonly maxDepth?: number;
}

/** JSON.parse needs some dozen milliseconds for so much, if no name occurs twice. */
export const MAX_JSON_COST = 300_000;
const STRUCTURE_COST = 10;
/** Deeper than any response, and flat enough for recursive functions. */
export const MAX_JSON_DEPTH = 100;

/** Parses UTF-8. Throws SyntaxError for invalid JSON, and for JSON beyond the limits. */
export function parseBoundedJSON(bytes: Buffer, limits?: JSONLimits): unknown {
  assertBoundedJSON(bytes, limits);
  return JSON.parse(bytes.toString('utf8'));
}

/** Throws SyntaxError for JSON beyond the limits. */
export function assertBoundedJSON(
  bytes: Buffer,
  { maxCost = MAX_JSON_COST, maxDepth = MAX_JSON_DEPTH }: JSONLimits = {},
): void {
  let cost = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = (stringEnd(bytes, at) ?? bytes.length) - 1;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        cost += STRUCTURE_COST;
        depth++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        break;
      case COLON:
        cost += STRUCTURE_COST;
        break;
      case COMMA:
        cost++;
        break;
    }
    if (cost > maxCost) throw new SyntaxError('the JSON has too many values');
    if (depth > maxDepth) throw new SyntaxError('the JSON is nested too deeply');
  }
}

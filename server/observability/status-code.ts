// Status codes as label values: a backend behind `proxy` can respond with any of 900 codes.

// Not an import, which would also load the undici of Node.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The client disconnected before the response. */
const DISCONNECTED = 499;
const KNOWN: ReadonlySet<number> = new Set([...Object.keys(STATUS_CODES).map(Number), DISCONNECTED]);

/** Returns a registered code, or 499, itself; for any other code, the first one of its class. */
export function knownStatus(code: number): number {
  return KNOWN.has(code) ? code : Math.floor(code / 100) * 100;
}

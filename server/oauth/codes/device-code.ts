import type { RandomBytes } from '../keys/random-bytes.ts';
import type { SessionCode } from './session-code.ts';

/** What a device polls with (RFC 8628, 3.2). Names the open request, and the session that comes of it. */
export interface DeviceCode extends SessionCode {
  readonly requestID: string;
  /** Ms since the epoch. Only as good as the device's word, until the session holds the code's hash. */
  readonly issuedAt: number;
}

const CODE = /^pdc_(s-[a-z2-7]{20})_(s-[a-z2-7]{20})_([0-9a-z]{1,9})_[\w-]{43}$/;

export function newDeviceCode(
  ids: { readonly sessionID: string; readonly requestID: string },
  issuedAt: number,
  random: RandomBytes,
): DeviceCode {
  const { sessionID, requestID } = ids;
  const secret = random(32).toString('base64url');
  const text = `pdc_${sessionID}_${requestID}_${issuedAt.toString(36)}_${secret}`;
  return { text, sessionID, requestID, issuedAt };
}

export function parseDeviceCode(text: string): DeviceCode | undefined {
  const [, sessionID, requestID, issued] = CODE.exec(text) ?? [];
  if (sessionID === undefined || requestID === undefined || issued === undefined) return undefined;
  return { text, sessionID, requestID, issuedAt: Number.parseInt(issued, 36) };
}

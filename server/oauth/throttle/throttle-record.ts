import { array, record } from '../../../apis/reading/unknown-value.ts';
import type { ThrottleRecord } from './login-throttle.ts';

export interface Macs {
  mac(purpose: string, message: string): string;
  checkMac(purpose: string, message: string, mac: string): boolean;
}

const PURPOSE = 'login-throttle-record';

/** One line: the MAC over key and record, a space, the record as JSON. */
export function encodeRecord({ key, failures, lastAt, knownSources }: ThrottleRecord, macs: Macs): string {
  const json = JSON.stringify({ failures, lastAt, knownSources });
  return `${macs.mac(PURPOSE, `${key} ${json}`)} ${json}`;
}

/** Undefined for what somebody else has written. */
export function decodeRecord(key: string, value: string, macs: Macs): ThrottleRecord | undefined {
  const space = value.indexOf(' ');
  const json = value.slice(space + 1);
  if (space < 0 || !macs.checkMac(PURPOSE, `${key} ${json}`, value.slice(0, space))) return undefined;
  const { failures, lastAt, knownSources } = record(JSON.parse(json));
  if (typeof failures !== 'number' || typeof lastAt !== 'number') return undefined;
  const sources = array(knownSources).filter((source) => typeof source === 'string');
  return { key, failures, lastAt, knownSources: sources };
}

// Converts leader election records to Lease objects of `coordination.k8s.io/v1`, and Lease objects to records.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';

/** The content of a Lease; times in ms. */
export interface LeaseRecord {
  readonly resourceVersion: string;
  /** Empty without a holder. */
  readonly holder: string;
  readonly durationMs: number;
  readonly acquiredAt: number;
  readonly renewedAt: number;
  readonly transitions: number;
}

/**
 * Returns true if another replica holds the Lease and it has not expired. `unchangedMs`: the time since the record last
 * changed, on the clock of this replica. The times in the record are ignored, because the clocks of replicas differ.
 */
export function isHeldByAnother(record: LeaseRecord, identity: string, unchangedMs: number): boolean {
  return record.holder !== '' && record.holder !== identity && unchangedMs < record.durationMs;
}

/**
 * Reads a Lease object. Fields that are missing or have a wrong type get an empty value, because every client with the
 * permission can write this object.
 */
export function readLease(object: unknown): LeaseRecord {
  const { resourceVersion } = recordIn(object, 'metadata');
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = recordIn(
    object,
    'spec',
  );
  return {
    resourceVersion: text(resourceVersion),
    holder: text(holderIdentity),
    durationMs: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds * 1000 : 0,
    acquiredAt: time(acquireTime),
    renewedAt: time(renewTime),
    transitions: typeof leaseTransitions === 'number' ? leaseTransitions : 0,
  };
}

/** Returns the Lease object to write. A resourceVersion in `record` makes the write conditional on that version. */
export function leaseObject(
  place: { readonly namespace: string; readonly name: string },
  record: LeaseRecord,
): object {
  const { resourceVersion } = record;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: place.name,
      namespace: place.namespace,
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    },
    spec: {
      ...(record.holder === '' ? {} : { holderIdentity: record.holder }),
      leaseDurationSeconds: Math.max(1, Math.ceil(record.durationMs / 1000)),
      acquireTime: microTime(record.acquiredAt),
      renewTime: microTime(record.renewedAt),
      leaseTransitions: record.transitions,
    },
  };
}

/** Formats a MicroTime, which has six fractional digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function time(value: unknown): number {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? 0 : ms;
}

// The meaning of the status words and conditions of objects, custom resources included.

export type StatusTone = 'good' | 'idle' | 'warn' | 'bad';

const GOOD =
  /^(?:running|completed?|succeeded|available|active|bound|ready|normal|healthy|established|accepted|synced|true)$/i;
const IDLE = /^(?:stopped|suspended|unknown|released|schedulingdisabled|unschedulable)/i;
/** Among them words of custom resources for what goes on, such as `Upgrading` and `BackingUp`. */
const WARN = /^(?:init:\d|failuretarget|(?!fail|miss)\w+ing(?:up)?$)/i;

/** Words that no pattern has, such as `CrashLoopBackOff` and `NotReady`, mean a failure. */
export function toneOfStatus(status: string): StatusTone {
  if (status === '') return 'idle';
  if (GOOD.test(status)) return 'good';
  if (IDLE.test(status)) return 'idle';
  return WARN.test(status) ? 'warn' : 'bad';
}

const TONES: readonly StatusTone[] = ['good', 'idle', 'warn', 'bad'];

export interface StatusCount {
  readonly status: string;
  readonly count: number;
  readonly tone: StatusTone;
}

/** The most frequent statuses of a facet, in the order of their tones: the parts of a bar. */
export function statusCounts(
  facet: Readonly<Record<string, number>> = {},
  limit = 5,
): readonly StatusCount[] {
  return Object.entries(facet)
    .sort(([, a], [, b]) => b - a)
    .slice(0, limit)
    .map(([status, count]) => ({ status, count, tone: toneOfStatus(status) }))
    .sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
}

/** Conditions that are true when something is wrong. */
const BAD = /Pressure|Unavailable|Fail|Error|Stalled|Degraded|Disruption|Conflict|Terminating/;

/** The tone of a condition, by its type and its status, which is `True`, `False` or `Unknown`. */
export function toneOfCondition(type: string, status: string): StatusTone {
  if (status !== 'True' && status !== 'False') return 'idle';
  return (status === 'True') === BAD.test(type) ? 'bad' : 'good';
}

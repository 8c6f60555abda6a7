// The meaning of the status words of objects, custom resources included.

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

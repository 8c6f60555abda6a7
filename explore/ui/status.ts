// A status word of an object, with the colour of its meaning.
import { type ComponentChildren, h } from 'preact';
import type { Tone } from './notice.ts';

const GOOD =
  /^(?:running|completed?|succeeded|available|active|bound|ready|normal|healthy|established|accepted|synced|true)$/i;
const IDLE = /^(?:stopped|suspended|unknown|released|schedulingdisabled|unschedulable)/i;
/** Among them words of custom resources for what goes on, such as `Upgrading` and `BackingUp`. */
const WARN = /^(?:init:\d|failuretarget|(?!fail|miss)\w+ing(?:up)?$)/i;

/** Words that no pattern has, such as `CrashLoopBackOff` and `NotReady`, mean a failure. */
export function toneOf(status: string): Tone {
  if (status === '') return 'idle';
  if (GOOD.test(status)) return 'good';
  if (IDLE.test(status)) return 'idle';
  return WARN.test(status) ? 'warn' : 'bad';
}

export function Status({ status }: { readonly status: string }): ComponentChildren {
  return h('span', { class: 'status', 'data-tone': toneOf(status) }, status === '' ? '–' : status);
}

// A message that says what went wrong or what is shown, with a button to try again.
import { type ComponentChildren, h } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

export interface NoticeProps {
  readonly tone: Tone;
  readonly children?: ComponentChildren;
  /** Label and action of the button; false for none. */
  readonly action?: readonly [label: string, act: () => void] | false | undefined;
}

export function Notice({ tone, children, action }: NoticeProps): ComponentChildren {
  const role = tone === 'bad' ? 'alert' : 'status';
  return h('div', { class: 'notice row', 'data-tone': tone, role }, [
    h('div', {}, children),
    action && h('button', { onClick: action[1] }, action[0]),
  ]);
}

export interface FailureProps {
  readonly error: Error;
  readonly retry?: () => void;
}

/** The message of an error, with a button if a further attempt can succeed. */
export function Failure({ error, retry }: FailureProps): ComponentChildren {
  const action = retry && (['Try again', retry] as const);
  return h(Notice, { tone: 'bad', action }, error.message);
}

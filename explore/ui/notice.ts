// Messages: what went wrong, what is shown, and what is not loaded yet.
import { type ComponentChildren, h } from 'preact';
import { toggle } from './controls.ts';
import type { Live } from './use-live.ts';
import { type Tone, toned } from './values.ts';

type Action = readonly [label: string, act: () => void];

/** A message. `action`: label and action of its button; false for none. */
export function notice(tone: Tone, content: ComponentChildren, action?: Action | false): ComponentChildren {
  const role = tone === 'bad' ? 'alert' : 'status';
  return h('div', { class: 'notice row', 'data-tone': tone, role }, [
    h('div', {}, content),
    action && h('button', { onClick: action[1] }, action[0]),
  ]);
}

/** The message of an error, with a button if a further attempt can succeed. */
export function failure({ message }: Error, retry?: () => void): ComponentChildren {
  return notice('bad', message, retry && ['Try again', retry]);
}

/** In place of what is not loaded yet. */
export function loading(text: string): ComponentChildren {
  return h('p', { class: 'muted', role: 'status' }, text);
}

type State = Pick<Live<unknown>, 'connection' | 'error'>;

/** The state of a live value, with a button that pauses it. */
export function liveState(
  state: State,
  isPaused: boolean,
  pause: (isPaused: boolean) => void,
): ComponentChildren {
  const [tone, text] = isPaused ? (['idle', 'Paused'] as const) : stateOf(state);
  return h('span', { class: 'row' }, [
    toned(tone, text, { role: 'status' }),
    toggle('Pause', isPaused, pause),
  ]);
}

/** The frame shows when the next attempt is. */
function stateOf({ connection, error }: State): readonly [tone: Tone, text: string] {
  if (error) return ['idle', 'Not live'];
  if (!connection || connection.state === 'closed') return ['idle', 'Connecting'];
  return connection.state === 'open' ? ['good', 'Live'] : ['warn', 'Not connected'];
}

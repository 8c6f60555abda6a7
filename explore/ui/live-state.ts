// The state of a live value, with a button that pauses it.
import type { Connection } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import type { Tone } from './notice.ts';
import { Toggle } from './toggle.ts';

export interface LiveStateProps {
  readonly connection: Connection | undefined;
  readonly error: Error | undefined;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
}

export function LiveState(props: LiveStateProps): ComponentChildren {
  const { isPaused, pause } = props;
  const [tone, text] = stateOf(props);
  return h('span', { class: 'row' }, [
    h('span', { class: 'status', 'data-tone': tone, role: 'status' }, text),
    h(Toggle, { isOn: isPaused, onClick: () => pause(!isPaused) }, 'Pause'),
  ]);
}

/** The frame shows when the next attempt is. */
function stateOf({ connection, error, isPaused }: LiveStateProps): readonly [tone: Tone, text: string] {
  if (isPaused) return ['idle', 'Paused'];
  if (error) return ['idle', 'Not live'];
  if (!connection) return ['idle', 'Connecting'];
  return connection.state === 'open' ? ['good', 'Live'] : ['warn', 'Not connected'];
}

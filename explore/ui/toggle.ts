// A chip that is on or off.
import { type ComponentChildren, h } from 'preact';

export interface ToggleProps {
  readonly isOn: boolean;
  readonly onClick: () => void;
  readonly title?: string;
  readonly children?: ComponentChildren;
}

export function Toggle({ isOn, children, ...button }: ToggleProps): ComponentChildren {
  return h('button', { class: 'chip', 'aria-pressed': isOn, ...button }, children);
}

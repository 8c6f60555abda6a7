// The search over all kinds.
import { type ComponentChildren, h } from 'preact';

export function SearchDialog({ close }: { readonly close: () => void }): ComponentChildren {
  return h('dialog', { open: true }, h('button', { onClick: close }, 'Close'));
}

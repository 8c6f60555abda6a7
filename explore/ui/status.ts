// A status word of an object, with the colour of its meaning.
import { toneOfStatus } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';

export function Status({ status }: { readonly status: string }): ComponentChildren {
  return h('span', { class: 'status', 'data-tone': toneOfStatus(status) }, status === '' ? '–' : status);
}

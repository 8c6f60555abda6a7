// What is missing in a result, in the words of the server.
import type { Shortfall } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { Notice } from '../ui/notice.ts';

export interface PartialProps {
  readonly partial: readonly Shortfall[] | undefined;
}

export function Partial({ partial = [] }: PartialProps): ComponentChildren {
  if (partial.length === 0) return null;
  // Rotation and restarts are usual, and nothing failed.
  const tone = partial.every(({ reason }) => reason === 'NotCovered') ? 'info' : 'warn';
  return h(
    Notice,
    { tone },
    h('details', {}, [
      h('summary', {}, 'Lines are missing.'),
      partial.map(({ message }) => h('p', {}, message)),
    ]),
  );
}

// What is missing in a result, in words, and what helps.
import type { Shortfall } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { Notice } from '../ui/notice.ts';

const CURES: Readonly<Record<Shortfall['reason'], string>> = {
  Timeout: 'Use a shorter time range, or fewer namespaces.',
  ShardFailed: 'Try again later; if it stays, the log store needs its operator.',
  NotCovered: 'The log store no longer has some older lines, or could not read them.',
  Limit: 'Use a shorter time range, or more filters.',
  StoreFailed: 'Try again later.',
  ScopeChanged: 'Search again: your permissions have changed.',
};

export interface PartialProps {
  readonly partial: readonly Shortfall[] | undefined;
}

export function Partial({ partial = [] }: PartialProps): ComponentChildren {
  if (partial.length === 0) return null;
  // Rotation and restarts are usual, and nothing failed.
  const tone = partial.every(({ reason }) => reason === 'NotCovered') ? 'info' : 'warn';
  const cures = [...new Set(partial.map(({ reason }) => CURES[reason]))].join(' ');
  return h(
    Notice,
    { tone },
    h('details', {}, [
      h('summary', {}, [h('strong', {}, 'Lines are missing. '), cures]),
      partial.map(({ message }) => h('p', {}, message)),
    ]),
  );
}

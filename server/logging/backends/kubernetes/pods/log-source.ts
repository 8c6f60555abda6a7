import { compareText } from '../../../compare-text.ts';
import type { ContainerRun } from './pod-facts.ts';

/** One log that a kubelet keeps: of a container as it runs, or of its run before. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly node: string;
  readonly previous: boolean;
  /** Still written to. */
  readonly running: boolean;
  readonly run: ContainerRun;
  /** Whether there were runs before this one whose logs nobody has any more. */
  readonly predecessors: boolean;
}

export type Named = Pick<LogSource, 'namespace' | 'pod' | 'container' | 'previous'>;

export function compareSources(a: Named, b: Named): number {
  return (
    compareText(a.namespace, b.namespace) ||
    compareText(a.pod, b.pod) ||
    compareText(a.container, b.container) ||
    Number(b.previous) - Number(a.previous)
  );
}

/** For people. */
export function nameOf({
  namespace,
  pod,
  container,
}: Pick<LogSource, 'namespace' | 'pod' | 'container'>): string {
  return `${namespace}/${pod}/${container}`;
}

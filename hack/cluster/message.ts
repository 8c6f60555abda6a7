// Messages from the node to the process that started it, one line of JSON each.
import { record } from '../../apis/reading/unknown-value.ts';

/** What a running node reports. The paths are in its mount namespace. */
export interface NodeFacts {
  /** Number of the cluster on this machine. */
  readonly cluster: number;
  /** PID of its first process, as the host sees it. */
  readonly pid: number;
  readonly kubectl: string;
}

export type NodeMessage =
  | { readonly progress: string }
  | { readonly failed: string }
  | { readonly ready: NodeFacts };

export function parseMessage(line: string): NodeMessage {
  try {
    const { progress, failed, ready } = record(JSON.parse(line));
    if (typeof failed === 'string') return { failed };
    if (typeof progress === 'string') return { progress };
    const { cluster, pid, kubectl } = record(ready);
    if (typeof cluster === 'number' && typeof pid === 'number' && typeof kubectl === 'string') {
      return { ready: { cluster, pid, kubectl } };
    }
  } catch {
    // Output of another program.
  }
  return { progress: line };
}

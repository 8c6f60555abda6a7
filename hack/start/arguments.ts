// Command lines of `npm start` and `npm run dev`.
import { type CommandLine, UsageError, wholeNumber } from '../../apis/reading/command-line.ts';

const DEFAULT_NODES = 5;
/** Limit of one kube-apiserver and KWOK on one machine. */
const MOST_NODES = 10_000;

const LOCAL_FLAGS = {
  nodes: {
    value: 'N',
    description: `number of simulated nodes (default ${DEFAULT_NODES}); further nodes of an earlier start stay`,
  },
  static: {
    description: 'the simulated objects and logs do not change; by default they do, as in a real cluster',
  },
  port: { value: 'PORT', description: 'port of the server; by default the previous one or a free one' },
} as const;

const ABOUT = `Starts a local control plane with simulated nodes, and the server behind its aggregation layer.
The state is stored in .local/ and reused by the next start.`;

export const START = {
  command: 'npm start --',
  usage: ['[--nodes N] [--static] [--port PORT]', '--kubeconfig FILE [--port PORT]'],
  about: ABOUT,
  flags: {
    ...LOCAL_FLAGS,
    kubeconfig: {
      value: 'FILE',
      description: 'serve the nodes and logs of this cluster instead; nothing is registered or changed in it',
    },
  },
} as const satisfies CommandLine;

export const DEV = {
  command: 'npm run dev --',
  usage: ['[--nodes N] [--static] [--port PORT]'],
  about: `${ABOUT}
The server logs to this terminal, and restarts when one of its files is saved.`,
  flags: LOCAL_FLAGS,
  notes: 'To serve an existing cluster: npm start -- --kubeconfig FILE',
} as const satisfies CommandLine;

export interface LocalArguments {
  /** Number of simulated nodes. */
  readonly nodes: number;
  /** Whether the simulated objects and logs change. */
  readonly isLively: boolean;
  /** Port of the TLS listener; if undefined, the previous one or a free one. */
  readonly port: number | undefined;
}

/** `values` of `npm start` or `npm run dev`. Throws UsageError. */
export function readLocalArguments(values: {
  readonly nodes: string | undefined;
  readonly static: boolean;
  readonly port: string | undefined;
  readonly kubeconfig?: string | undefined;
}): LocalArguments {
  const { nodes, port, kubeconfig, static: isStatic } = values;
  if (kubeconfig !== undefined && (nodes !== undefined || isStatic)) {
    const flag = isStatic ? '--static' : '--nodes';
    throw new UsageError(`${flag} is for a simulated cluster and cannot be combined with --kubeconfig`);
  }
  return {
    nodes: nodes === undefined ? DEFAULT_NODES : wholeNumber('--nodes', nodes, 1, MOST_NODES),
    isLively: !isStatic,
    port: port === undefined ? undefined : wholeNumber('--port', port, 1, 65_535),
  };
}

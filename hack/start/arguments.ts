// Parser of the command line of `npm start` and `npm run dev`.
import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';

export interface StartArguments {
  /** Number of simulated nodes. */
  readonly nodes: number;
  /** Kubeconfig of an existing cluster, to serve instead of a local one. */
  readonly kubeconfig: string | undefined;
  /** Port of the TLS listener; if undefined, the previous one or a free one. */
  readonly port: number | undefined;
  readonly help: boolean;
}

const DEFAULT_NODES = 5;
/** Limit of one kube-apiserver and KWOK on one machine. */
const MOST_NODES = 10_000;

/** `env` contains the flags that npm has consumed. */
export function parseStartArguments(args: readonly string[], env: NodeJS.ProcessEnv = {}): StartArguments {
  for (const name of ['nodes', 'kubeconfig', 'port']) {
    if (env[`npm_config_${name}`] === undefined) continue;
    throw new UsageError(
      `npm consumed the flag --${name}: write -- before it, as in npm start -- --${name} …`,
    );
  }
  const { values } = parseCommandLine({
    args: [...args],
    options: {
      nodes: { type: 'string' },
      kubeconfig: { type: 'string' },
      port: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { nodes, kubeconfig, port, help } = values;
  if (nodes !== undefined && kubeconfig !== undefined) {
    throw new UsageError(
      '--nodes simulates nodes in a local cluster and cannot be combined with --kubeconfig',
    );
  }
  return {
    nodes: nodes === undefined ? DEFAULT_NODES : wholeNumber('--nodes', nodes, 1, MOST_NODES),
    kubeconfig,
    port: port === undefined ? undefined : wholeNumber('--port', port, 1, 65_535),
    help,
  };
}

/** `elsewhere`: the command can also serve an existing cluster. */
export function startHelp(command: string, elsewhere: boolean): string {
  return [
    `Usage: npm ${command} -- [--nodes N] [--port PORT]`,
    ...(elsewhere ? [`       npm ${command} -- --kubeconfig FILE [--port PORT]`] : []),
    '',
    'Starts a local control plane with simulated nodes, and the server behind its aggregation layer.',
    ...(elsewhere ? [] : ['The server logs to this terminal, and restarts when one of its files is saved.']),
    'The state is stored in .local/ and reused by the next start.',
    '',
    `  --nodes N          number of simulated nodes (default ${DEFAULT_NODES}); further nodes of an earlier start stay`,
    ...(elsewhere
      ? [
          '  --kubeconfig FILE  serve the nodes and logs of this cluster instead; nothing is registered or changed in it',
        ]
      : []),
    '  --port PORT        port of the server; by default the previous one or a free one',
    '  -h, --help         this text',
  ].join('\n');
}

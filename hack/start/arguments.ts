import { parseCommandLine, UsageError, wholeNumber } from '../terminal/usage.ts';

export interface StartArguments {
  /** Nodes to simulate. */
  readonly nodes: number;
  /** Serve this cluster instead of a local one. */
  readonly kubeconfig: string | undefined;
  /** Port of the TLS listener; the one of the last start, or a free one, when undefined. */
  readonly port: number | undefined;
  readonly help: boolean;
}

export const DEFAULT_NODES = 5;
/** What one kube-apiserver and KWOK on one machine can handle. */
const MOST_NODES = 10_000;

/** `env` tells what npm has understood of the command line. */
export function parseStartArguments(args: readonly string[], env: NodeJS.ProcessEnv = {}): StartArguments {
  for (const name of ['nodes', 'kubeconfig', 'port']) {
    if (env[`npm_config_${name}`] === undefined) continue;
    throw new UsageError(
      `npm took --${name} for a flag of its own: put -- before it, as in npm start -- --${name} …`,
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
      '--nodes simulates nodes in a local cluster; leave it out together with --kubeconfig',
    );
  }
  return {
    nodes: nodes === undefined ? DEFAULT_NODES : wholeNumber('--nodes', nodes, 1, MOST_NODES),
    kubeconfig,
    port: port === undefined ? undefined : wholeNumber('--port', port, 1, 65_535),
    help,
  };
}

/** `elsewhere`: the command can also serve a cluster that exists already. */
export function startHelp(command: string, elsewhere: boolean): string {
  return [
    `Usage: npm ${command} -- [--nodes N] [--port PORT]`,
    ...(elsewhere ? [`       npm ${command} -- --kubeconfig FILE [--port PORT]`] : []),
    '',
    'Starts a local control plane with simulated nodes, and the server behind its aggregation layer.',
    ...(elsewhere
      ? []
      : ['The server logs to this terminal, and starts anew whenever one of its files is saved.']),
    'Its state is kept in .local/, and found again by the next start.',
    '',
    `  --nodes N          how many nodes are simulated; ${DEFAULT_NODES} unless told otherwise; more of an earlier start stay`,
    ...(elsewhere
      ? [
          '  --kubeconfig FILE  serve the nodes and logs of this cluster instead; nothing is registered or changed in it',
        ]
      : []),
    '  --port PORT        port of the server; the one of the last start, or a free one, unless told otherwise',
    '  -h, --help         this text',
  ].join('\n');
}

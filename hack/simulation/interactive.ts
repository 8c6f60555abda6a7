// Objects of KWOK that make the simulated pods interactive.

/**
 * exec runs programs of this machine, and port-forward reaches the port `echo` of this machine. `attached`: the file
 * that attach follows. KWOK does not end a program with its connection.
 */
export function interactive({ echo, attached }: { echo: number; attached?: string }): object[] {
  const object = (kind: string, spec: object): object => ({
    apiVersion: 'kwok.x-k8s.io/v1alpha1',
    kind,
    metadata: { name: 'interactive' },
    spec,
  });
  return [
    object('ClusterExec', { execs: [{ local: {} }] }),
    object('ClusterPortForward', { forwards: [{ target: { address: '127.0.0.1', port: echo } }] }),
    ...(attached === undefined ? [] : [object('ClusterAttach', { attaches: [{ logsFile: attached }] })]),
  ];
}

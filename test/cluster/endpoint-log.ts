// Log of the endpoints of the Service: each change of their conditions, with its time. A failed test prints it, because a
// refused connection has two possible causes: an endpoint without a listener, or kube-proxy's reject rule of a Service
// without endpoints, which sends an ICMP message.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { array, record, recordIn } from '../../apis/reading/unknown-value.ts';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { noteOnFailure, removeNote } from '../support/failure-notes.ts';

const SLICES = '/apis/discovery.k8s.io/v1/namespaces/platform-system/endpointslices';

export class EndpointLog implements Disposable {
  readonly #watch: ChildProcess;
  readonly #lines: string[] = [];

  private constructor(cluster: Cluster, rejected: string) {
    this.#watch = spawn(cluster.kubectlProgram, ['get', '--raw', `${SLICES}?watch=true`], {
      env: cluster.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (this.#watch.stdout) {
      createInterface({ input: this.#watch.stdout }).on('line', (line) => this.#add(conditionsIn(line)));
    }
    this.#add(rejected);
    noteOnFailure(this, 'the log of the endpoints', async () =>
      [...this.#lines, `now: ${await rejections(cluster)}`].join('\n'),
    );
  }

  static async start(cluster: Cluster): Promise<EndpointLog> {
    return new EndpointLog(cluster, await rejections(cluster));
  }

  #add(text: string): void {
    this.#lines.push(`${new Date().toISOString()} ${text}`);
  }

  [Symbol.dispose](): void {
    removeNote(this);
    this.#watch.kill();
  }
}

/** The conditions of each address, for instance `198.19.0.2 serving,terminating`. */
function conditionsIn(event: string): string {
  const endpoints = array(recordIn(JSON.parse(event), 'object')['endpoints']).map((endpoint) => {
    const { addresses, conditions } = record(endpoint);
    const held = Object.entries(record(conditions)).filter(([, holds]) => holds === true);
    return `${String(addresses)} ${held.map(([name]) => name).join()}`;
  });
  return endpoints.join('; ');
}

/** The number of ICMP messages of the node about unreachable destinations. */
async function rejections(cluster: Cluster): Promise<string> {
  const [names = '', values = ''] = (
    await cluster.run(cluster.enter('grep', '^Icmp:', '/proc/net/snmp'))
  ).split('\n');
  const place = names.split(' ').indexOf('OutDestUnreachs');
  return `${values.split(' ')[place]} messages "destination unreachable" of the node`;
}

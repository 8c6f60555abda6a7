// Simulated pods for interactive requests: exec runs programs of this machine, port-forward reaches an echo server, and
// attach follows a file.
import { createServer } from 'node:net';
import { array, record, recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { interactive } from '../../../hack/simulation/interactive.ts';
import { startKwok } from '../../../hack/simulation/kwok.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

const NAMESPACE = 'shop';
const CONTAINER = 'cart';

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

export interface InteractivePods extends Disposable {
  /** A running pod. */
  readonly pod: Pod;
}

/** `attached`: the file that attach follows. The pods stop with the control plane. */
export async function startInteractivePods(
  controlPlane: ControlPlane,
  { attached, signal }: { readonly attached: string; readonly signal: AbortSignal },
): Promise<InteractivePods> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  const echo = await listenOnLoopback(server);
  try {
    const objects = interactive({ attached, echo });
    await startKwok(controlPlane, { nodes: 2, pods: 4, objects, signal, progress: () => undefined });
    const { body } = await controlPlane.client.expect(`/api/v1/namespaces/${NAMESPACE}/pods`, {}, [200]);
    const names = array(record(JSON.parse(body))['items']).map((pod) =>
      text(recordIn(pod, 'metadata')['name']),
    );
    const name = names.find((each) => each.startsWith(`${CONTAINER}-`)) ?? '';
    const pod = { namespace: NAMESPACE, name, container: CONTAINER };
    return { pod, [Symbol.dispose]: () => void server.close() };
  } catch (error) {
    server.close();
    throw error;
  }
}

// Simulated pods for interactive requests: exec runs programs of this machine, port-forward reaches an echo server, and
// attach follows a file.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { array, record, text } from '../../../apis/reading/unknown-value.ts';
import type { ControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { interactive } from '../../../hack/simulation/interactive.ts';
import { startKwok } from '../../../hack/simulation/kwok.ts';

const NAMESPACE = 'shop';
const CONTAINER = 'cart';

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

export class InteractivePods {
  /** A running pod. */
  readonly pod: Pod;
  readonly #echo: Server;

  private constructor(pod: Pod, echo: Server) {
    this.pod = pod;
    this.#echo = echo;
  }

  /** `attached`: the file that attach follows. The pods stop with the control plane. */
  static async start(
    controlPlane: ControlPlane,
    { attached, signal }: { readonly attached: string; readonly signal: AbortSignal },
  ): Promise<InteractivePods> {
    const echo = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.pipe(socket);
    });
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    try {
      await startKwok(controlPlane, {
        nodes: 2,
        pods: 4,
        objects: interactive({ attached, echo: portOf(echo) }),
        signal,
        progress: () => undefined,
      });
      const { body } = await controlPlane.client.expect(`/api/v1/namespaces/${NAMESPACE}/pods`, {}, [200]);
      const names = array(record(JSON.parse(body))['items']).map((pod) =>
        text(record(record(pod)['metadata'])['name']),
      );
      const name = names.find((each) => each.startsWith(`${CONTAINER}-`)) ?? '';
      return new InteractivePods({ namespace: NAMESPACE, name, container: CONTAINER }, echo);
    } catch (error) {
      echo.close();
      throw error;
    }
  }

  stop(): void {
    this.#echo.close();
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

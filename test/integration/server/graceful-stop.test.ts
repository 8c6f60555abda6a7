// Tests of the graceful stop of the server, against a real control plane.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { ControlPlane } from '../../../hack/control-plane/control-plane.ts';
import { readPair } from '../../../hack/control-plane/pki.ts';
import { until } from '../../support/until.ts';
import { type Program, Workplace } from './program.ts';
import { sharedNodes } from './rest/shared-nodes.ts';

/** Time between two requests of a client: without it, the load delays the start of the programs that replace each other. */
const PACE_MS = 5;
const NODES = '/apis/resources.platform.io/v1alpha3/nodes';

describe('a graceful stop with a real cluster', () => {
  let controlPlane: ControlPlane;
  let workplace: Workplace;

  before(async () => {
    controlPlane = (await sharedNodes()).controlPlane;
  });

  beforeEach(async () => {
    workplace = await Workplace.make();
  });

  afterEach(() => workplace.remove());

  async function ready(shutdown?: { readonly readinessDelay: string }): Promise<{
    program: Program;
    port: number;
    open: (path: string, agent?: Agent) => Promise<IncomingMessage>;
  }> {
    const program = await workplace.start({
      kubernetes: { kubeconfig: controlPlane.kubeconfig },
      registration: { manageCABundle: false },
      // The custom resources of the authorization server are not installed in this cluster, so it would never become
      // ready.
      oauth: { enabled: false },
      ...(shutdown ? { shutdown } : {}),
    });
    const port = await program.port('secure');
    const tls = { ca: await workplace.ca(), ...(await readPair(controlPlane.pki.files.admin)) };
    const open = async (path: string, agent?: Agent): Promise<IncomingMessage> => {
      const sent = request({ host: '127.0.0.1', port, path, agent: agent ?? false, ...tls });
      sent.end();
      const [answer] = await once(sent, 'response');
      return answer;
    };
    await until(async () => {
      const answer = await open('/readyz');
      answer.resume();
      await once(answer, 'close');
      return answer.statusCode === 200;
    });
    return { program, port, open };
  }

  it('completes a watch and a list in progress', async () => {
    const { program, open } = await ready();
    const watch = await open(`${NODES}?watch=true`);
    expect(watch.statusCode).to.equal(200);
    await once(watch, 'data');
    const ended = once(watch, 'end');
    const list = await open(NODES);
    program.signal('SIGTERM');
    let body = '';
    for await (const chunk of list) body += String(chunk);
    const { items } = (await controlPlane.client.get('/api/v1/nodes')) as { items: unknown[] };
    expect(JSON.parse(body)).to.have.property('items').with.length(items.length);
    await ended;
    expect(watch.complete).to.equal(true);
    expect(await program.exit).to.have.property('code', 0);
  });

  it('loses no request of keep-alive clients during two rolling updates, and announces the end of connections', async () => {
    // Long enough for the requests in between, even on a busy machine.
    const shutdown = { readinessDelay: '5s' };
    let old = await ready(shutdown);
    const { open } = old;
    // The ready endpoints of the Service. As with kube-proxy, a change affects new connections only.
    let endpoints: readonly number[] = [old.port];
    let opened = 0;
    class ServiceAgent extends Agent {
      override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
        return super.createConnection({ ...options, port: endpoints[opened++ % endpoints.length] }, callback);
      }
    }
    const failures: unknown[] = [];
    let served = 0;
    const send = async (agent: Agent): Promise<void> => {
      try {
        const answer = await open(`${NODES}?limit=1`, agent);
        await once(answer.resume(), 'end');
        if (answer.statusCode === 200) served++;
        else failures.push(answer.statusCode);
      } catch (error) {
        failures.push(error);
      }
    };
    const newAgents = () =>
      Array.from({ length: 8 }, () => new ServiceAgent({ keepAlive: true, maxSockets: 1 }));
    const [busy, idle] = [newAgents(), newAgents()];
    const load = new AbortController();
    const clients = busy.map(async (agent) => {
      while (!load.signal.aborted) await Promise.all([send(agent), delay(PACE_MS)]);
    });
    const serves = async (more: number): Promise<void> => {
      const before = served;
      await until(() => served >= before + more);
    };
    for (let update = 0; update < 2; update++) {
      const next = await ready(shutdown);
      endpoints = [old.port, next.port];
      await Promise.all(idle.map(send));
      await serves(200);
      old.program.signal('SIGTERM');
      await until(async () => {
        const probe = await old.open('/readyz');
        await once(probe.resume(), 'end');
        return probe.statusCode !== 200;
      });
      endpoints = [next.port];
      expect(await old.program.exit).to.have.property('code', 0);
      await Promise.all(idle.map(send));
      await serves(200);
      old = next;
    }
    load.abort();
    await Promise.all(clients);
    for (const agent of [...busy, ...idle]) agent.destroy();
    expect(failures).to.deep.equal([]);

    let answered = 0;
    const untilClosed = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let connection = ''; connection !== 'close'; answered++) {
        const [answer] = await Promise.all([old.open('/livez', agent), delay(PACE_MS)]);
        connection = answer.headers.connection ?? '';
        await once(answer.resume(), 'end');
      }
      agent.destroy();
    };
    const last = Promise.all(Array.from({ length: 8 }, untilClosed));
    await until(() => answered > 100);
    old.program.signal('SIGTERM');
    await last;
    expect(await old.program.exit).to.have.property('code', 0);
  });
});

// Tests of node annotations with the total requests and limits of pods, against a real control plane.
import { expect } from 'chai';
import { pino } from 'pino';
import { array, record, text } from '../../../../apis/reading/unknown-value.ts';
import { SERVICE_ACCOUNT } from '../../../../hack/extension/registration.ts';
import { nodeUsageAccess } from '../../../../hack/generate/access.ts';
import { namesFor } from '../../../../hack/generate/names.ts';
import { ClusterConnection } from '../../../../server/cluster/connection/connection.ts';
import { kubeConfigSource } from '../../../../server/cluster/connection/kubeconfig.ts';
import { NodeUsage, usageAnnotations } from '../../../../server/lists/node-usage.ts';
import { PODS } from '../../../../server/resources/kind.ts';
import { KindCopies } from '../../../../server/resources/kinds/kind-copies.ts';
import { HandlerServer } from '../../../support/handler-server.ts';
import { platformNodes } from '../../../support/platform/platform-lists.ts';
import { until } from '../../../support/until.ts';
import { OURS, type ServedNodes } from '../rest/served-nodes.ts';
import { sharedNodes } from '../rest/shared-nodes.ts';

const PLATFORM = '/kapis/resources.platform.io/v1alpha3/nodes';
const POD_PATH = '/api/v1/namespaces/default/pods';
const NODE = 'node-00001';

const requesting = (cpu: string, memory: string): object => ({
  name: 'c',
  image: 'example.org/none',
  resources: { requests: { cpu, memory }, limits: { memory } },
});

describe('pod usage with a real cluster', () => {
  const stop = new AbortController();
  let served: ServedNodes;
  let client: ClusterConnection;
  let following: Promise<void>;
  let platform: HandlerServer;

  const post = (path: string, body: object): Promise<unknown> =>
    served.controlPlane.client.expect(path, { method: 'POST', body }, [201]);

  const createPod = (name: string, nodeName: string, spec: object): Promise<unknown> =>
    post(POD_PATH, { metadata: { name }, spec: { nodeName, ...spec } });

  before(async () => {
    served = await sharedNodes();
    await post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    await createPod('first', NODE, { containers: [requesting('500m', '1Gi')] });
    // With the permissions of the component only.
    for (const object of nodeUsageAccess(namesFor('platform'))) {
      await post(`/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
    }
    const kubeconfig = await served.controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
    client = new ClusterConnection({ kubeConfig: kubeConfigSource(kubeconfig) });
    const log = pino({ level: 'silent' });
    const copies = new KindCopies({ client, log, domain: 'platform.io', features: { nodeUsage: true } });
    const usage = new NodeUsage(copies.hold(PODS));
    following = copies.run(stop.signal);
    const { cache } = served.informer;
    const handler = platformNodes({ cache, computed: usageAnnotations(usage, 'platform.io') });
    platform = await new HandlerServer(handler).start();
  });

  after(async () => {
    stop.abort();
    await following;
    client?.close();
    await platform?.close();
  });

  function annotationsOf(node: unknown): Readonly<Record<string, unknown>> {
    return record(record(record(node)['metadata'])['annotations']);
  }

  /** Resolves when the node has this annotation; get and list must return the same annotations. */
  async function seen(name: string, value: string, node = NODE): Promise<void> {
    let got = annotationsOf(undefined);
    await until(async () => {
      got = annotationsOf(await platform.json(`${PLATFORM}/${node}`));
      return got[`node.platform.io/${name}`] === value;
    });
    const list = await platform.json(`${PLATFORM}?names=${node}`);
    expect(annotationsOf(array(list['items'])[0])).to.deep.equal(got);
  }

  it('includes pods from creation to end, equally in list and get', async () => {
    await seen('cpu-requests', '500m');
    await seen('memory-limits', '1Gi');
    await seen('cpu-requests', '0', 'node-00002');
    await createPod('second', NODE, { containers: [requesting('250m', '1Gi')] });
    await seen('cpu-requests', '750m');
    const { etag } = (await platform.ask(`${PLATFORM}/${NODE}`)).headers;

    const succeeded = { method: 'PATCH', body: { status: { phase: 'Succeeded' } } } as const;
    const patch = { ...succeeded, contentType: 'application/merge-patch+json' } as const;
    await served.controlPlane.client.expect(`${POD_PATH}/second/status`, patch, [200]);
    await seen('cpu-requests', '500m');
    const headers = { 'if-none-match': String(etag) };
    expect((await platform.ask(`${PLATFORM}/${NODE}`, { headers })).status).to.equal(200);

    const first = `${POD_PATH}/first?gracePeriodSeconds=0`;
    await served.controlPlane.client.expect(first, { method: 'DELETE' }, [200]);
    await seen('cpu-requests', '0');
    await seen('memory-limits', '0');
  });

  it('does not change the aggregated path', async () => {
    const { body } = await served.askUs(`${OURS}/${NODE}`);
    expect(Object.keys(annotationsOf(body)).join()).not.to.include('node.platform.io/');
    expect(text(record(record(body)['metadata'])['name'])).to.equal(NODE);
  });
});

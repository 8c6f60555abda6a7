// Tests of the OpenAPI v2 and v3 documents of nodes, against a real kube-apiserver.
import { expect } from 'chai';
import { record } from '../../../../apis/reading/unknown-value.ts';
import { type ServedNodes } from './served-nodes.ts';
import { sharedNodes } from './shared-nodes.ts';

const V3 = '/openapi/v3/apis/resources.platform.io/v1alpha3';
const NODE = 'io.platform.resources.v1alpha3.Node';

function schemas(document: unknown): Readonly<Record<string, unknown>> {
  return record(record(record(document)['components'])['schemas']);
}

describe('OpenAPI with a real cluster', () => {
  let served: ServedNodes;

  before(async () => {
    served = await sharedNodes();
  });
  it('serves a minimal schema of nodes first, then that of the cluster', async () => {
    const before = await served.askUs(V3);
    expect(schemas(before.body)).to.have.all.keys(NODE, `${NODE}List`);
    served.followDescription();
    let described = before.body;
    while (Object.keys(schemas(described)).length === 2) described = (await served.askUs(V3)).body;

    const core = (await served.askCluster('/openapi/v3/api/v1')).body;
    expect(schemas(described)['io.k8s.api.core.v1.NodeStatus']).to.deep.equal(
      schemas(core)['io.k8s.api.core.v1.NodeStatus'],
    );
    const node = record(schemas(described)[NODE]);
    expect(node['x-kubernetes-group-version-kind']).to.deep.equal([
      { group: 'resources.platform.io', version: 'v1alpha3', kind: 'Node' },
    ]);
    expect(Object.keys(schemas(described))).not.to.include('io.k8s.api.core.v1.Pod');
  });

  it('resolves all references in v3 and v2', async () => {
    const v3 = (await served.askUs(V3)).body;
    const v2 = (await served.askUs('/openapi/v2')).body;
    const held = {
      '#/components/schemas/': Object.keys(schemas(v3)),
      '#/definitions/': Object.keys(record(record(v2)['definitions'])),
    };
    for (const [prefix, names] of Object.entries(held)) {
      const text = JSON.stringify(prefix === '#/definitions/' ? v2 : v3);
      const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? '');
      expect(referred).not.to.have.length(0);
      for (const target of referred) {
        expect(target.startsWith(prefix), target).to.equal(true);
        expect(names).to.include(target.slice(prefix.length));
      }
    }
    expect(JSON.stringify(v2)).not.to.match(/"(oneOf|anyOf|allOf|nullable)":/);
  });
});

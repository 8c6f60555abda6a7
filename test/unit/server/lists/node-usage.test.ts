// Tests of the resource requests and limits of pods, and of the sums for each node.
import { expect } from 'chai';
import { array, assert, boolean, constantFrom, integer, property, record } from 'fast-check';
import { NodeUsage, usageAnnotations } from '../../../../server/lists/node-usage.ts';
import { PODS } from '../../../../server/resources/kind.ts';
import { podAmounts } from '../../../../server/resources/profiles/pod-amounts.ts';
import { nodeProfile } from '../../../support/cluster/node-cache.ts';
import { KindCache, type PlainObject, plain } from '../../../support/platform/kind-cache.ts';

interface Demand {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

const container = (resources: Demand, more: object = {}): object => ({ resources, ...more });
const cpu = (requests: string, more: object = {}): object => container({ requests: { cpu: requests } }, more);
const ONE = [cpu('1')];
const SIDECAR = cpu('2', { restartPolicy: 'Always' });

function pod(name: string, nodeName: string, spec: object = {}, phase = 'Running', version = 1): PlainObject {
  return plain(`default/${name}`, version, {}, { spec: { nodeName, ...spec }, status: { phase } });
}

describe('podAmounts', () => {
  for (const [title, requests, spec] of [
    ['is the sum of its containers', 1250, { containers: [cpu('1'), cpu('250m'), container({})] }],
    [
      'is that of the largest init container',
      3000,
      { containers: ONE, initContainers: [cpu('2'), cpu('3')] },
    ],
    ['is that of the containers if it is more', 4000, { containers: [cpu('4')], initContainers: [cpu('3')] }],
    ['adds sidecars to containers', 3000, { containers: ONE, initContainers: [SIDECAR] }],
    [
      'adds sidecars to later init containers',
      7000,
      { containers: ONE, initContainers: [SIDECAR, cpu('5')] },
    ],
    ['adds no sidecars to earlier ones', 5000, { containers: ONE, initContainers: [cpu('5'), SIDECAR] }],
    ['adds the overhead', 1100, { containers: ONE, overhead: { cpu: '100m' } }],
    ['prefers pod-level resources', 3000, { containers: ONE, resources: { requests: { cpu: '3' } } }],
    ['prefers them for each resource', 1000, { containers: ONE, resources: { requests: { memory: '3' } } }],
  ] as const) {
    it(title, () => {
      expect(podAmounts(pod('p', 'n', spec)).cpuRequests / 1_000_000n).to.equal(BigInt(requests));
    });
  }

  it('adds the overhead to limits, but has no limit because of it', () => {
    const overhead = { cpu: '100m' };
    const limits = (spec: object) => podAmounts(pod('p', 'n', spec)).cpuLimits;
    expect(limits({ containers: [container({})], overhead })).to.equal(0n);
    expect(limits({ containers: [container({ limits: { cpu: '1' } })], overhead })).to.equal(1_100_000_000n);
  });

  it('is zero before scheduling and after the end', () => {
    const requests = (node: string, phase: string): bigint =>
      podAmounts(pod('p', node, { containers: ONE }, phase)).cpuRequests;
    expect(requests('', 'Pending')).to.equal(0n);
    expect(requests('n', 'Succeeded')).to.equal(0n);
    expect(requests('n', 'Failed')).to.equal(0n);
    expect(requests('n', 'Pending')).to.equal(1_000_000_000n);
  });
});

describe('NodeUsage', () => {
  const filled = (...pods: readonly PlainObject[]): [usage: NodeUsage, pods: KindCache] => {
    const cache = new KindCache(PODS).fill(1, pods);
    return [new NodeUsage(cache), cache];
  };

  it('is equal after single changes and after a relist', () => {
    const change = record({
      name: constantFrom('a', 'b', 'c', 'd'),
      node: constantFrom('', 'm', 'n'),
      amount: integer({ min: 0, max: 5 }),
      phase: constantFrom('Pending', 'Running', 'Succeeded'),
      gone: boolean(),
    });
    assert(
      property(array(change, { maxLength: 30 }), (changes) => {
        const [usage, cache] = filled();
        let version = 1;
        for (const { name, node, amount, phase, gone } of changes) {
          const one = pod(name, node, { containers: [cpu(`${amount}`)] }, phase, ++version);
          cache.apply(gone ? 'DELETED' : 'MODIFIED', one);
        }
        const left = new Map(changes.map(({ name, ...last }) => [name, last]));
        const sumOf = (on: string): bigint =>
          [...left.values()]
            .filter(({ node, phase, gone }) => node === on && phase !== 'Succeeded' && !gone)
            .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        for (const node of ['m', 'n']) {
          expect(usage.of(node)).to.deep.equal(new NodeUsage(cache).of(node));
          expect(usage.of(node).cpuRequests / 1_000_000_000n).to.equal(sumOf(node));
        }
      }),
    );
  });

  it('returns the same object until an amount changes', () => {
    const [usage, cache] = filled(pod('a', 'n', { containers: ONE }));
    const before = usage.of('n');
    cache.apply('MODIFIED', pod('a', 'n', { containers: ONE, hostNetwork: true }, 'Running', 2));
    expect(usage.of('n')).to.equal(before);
    cache.apply('MODIFIED', pod('a', 'n', { containers: [cpu('2')] }, 'Running', 3));
    expect(usage.of('n')).not.to.equal(before);
  });

  it('is unknown while the facts of the pods are released', () => {
    const [usage, pods] = filled(pod('a', 'n', { containers: ONE }));
    pods.cache.clear();
    expect(usage.synced).to.equal(false);
    expect(usage.of('n').cpuRequests).to.equal(0n);
    pods.fill(2, [pod('a', 'n', { containers: ONE })]);
    expect(usage.of('n').cpuRequests).to.equal(1_000_000_000n);
  });

  it('is formatted as eight annotations, with fractions of the allocatable amounts', () => {
    const spec = {
      containers: [
        container({ requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: '6', memory: '1536Mi' } }),
      ],
    };
    const [usage, cache] = filled(pod('a', 'n', spec));
    const annotations = usageAnnotations(usage, 'platform.io');
    const facts = nodeProfile.facts({ status: { allocatable: { cpu: '4', memory: '3Gi' } } });
    expect(JSON.parse(`{${annotations({ name: 'n', facts })}}`)).to.deep.equal({
      'node.platform.io/cpu-requests': '1500m',
      'node.platform.io/cpu-requests-fraction': '37%',
      'node.platform.io/cpu-limits': '6',
      'node.platform.io/cpu-limits-fraction': '150%',
      'node.platform.io/memory-requests': '1Gi',
      'node.platform.io/memory-requests-fraction': '33%',
      'node.platform.io/memory-limits': '1536Mi',
      'node.platform.io/memory-limits-fraction': '50%',
    });
    cache.apply('MODIFIED', pod('a', 'n', { containers: ONE }, 'Running', 2));
    expect(JSON.parse(`{${annotations({ name: 'n', facts })}}`)).to.include({
      'node.platform.io/cpu-requests': '1',
      'node.platform.io/cpu-limits': '0',
    });
    // A node that is cordoned, or reports no allocatable amounts.
    const full = nodeProfile.facts({ status: { allocatable: { cpu: '0', memory: '0' } } });
    expect(JSON.parse(`{${annotations({ name: 'n', facts: full })}}`)).to.include({
      'node.platform.io/cpu-requests-fraction': '0%',
    });
    const bare = usageAnnotations(usage, 'platform.io')({ name: 'other', facts: nodeProfile.facts({}) });
    expect(JSON.parse(`{${bare}}`)).to.include({
      'node.platform.io/cpu-requests': '0',
      'node.platform.io/cpu-requests-fraction': '0%',
    });
  });
});

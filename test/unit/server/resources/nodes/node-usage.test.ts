// Tests of the resource requests and limits of pods, and of the sums for each node.
import { expect } from 'chai';
import { array, assert, boolean, constantFrom, integer, property, record } from 'fast-check';
import { nodeFactsReader } from '../../../../../server/resources/nodes/node-facts.ts';
import { UsageCounter, usageAnnotations } from '../../../../../server/resources/nodes/node-usage.ts';
import { podUsage } from '../../../../../server/resources/nodes/pod-usage.ts';

const nodeFacts = nodeFactsReader('platform.io');

interface Demand {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

const container = (resources: Demand, more: object = {}): object => ({ resources, ...more });
const cpu = (requests: string, more: object = {}): object => container({ requests: { cpu: requests } }, more);
const ONE = [cpu('1')];
const SIDECAR = cpu('2', { restartPolicy: 'Always' });

function pod(name: string, nodeName: string, spec: object = {}, phase = 'Running'): object {
  return { metadata: { namespace: 'default', name }, spec: { nodeName, ...spec }, status: { phase } };
}

const raw = (object: object): Buffer => Buffer.from(JSON.stringify(object));

describe('podUsage', () => {
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
      expect(podUsage(pod('p', 'n', spec)).amounts.cpuRequests / 1_000_000n).to.equal(BigInt(requests));
    });
  }

  it('adds the overhead to limits, but has no limit because of it', () => {
    const overhead = { cpu: '100m' };
    const limits = (spec: object) => podUsage(pod('p', 'n', spec)).amounts.cpuLimits;
    expect(limits({ containers: [container({})], overhead })).to.equal(0n);
    expect(limits({ containers: [container({ limits: { cpu: '1' } })], overhead })).to.equal(1_100_000_000n);
  });

  it('is zero before scheduling and after the end', () => {
    expect(podUsage(pod('p', '')).node).to.equal('');
    expect(podUsage(pod('p', 'n', {}, 'Succeeded')).node).to.equal('');
    expect(podUsage(pod('p', 'n', {}, 'Failed')).node).to.equal('');
    expect(podUsage(pod('p', 'n', {}, 'Pending')).node).to.equal('n');
  });
});

describe('UsageCounter', () => {
  const filled = (...pods: readonly object[]): UsageCounter => {
    const counter = new UsageCounter();
    const replacement = counter.replacement();
    for (const one of pods) replacement.add(raw(one));
    replacement.commit('1');
    return counter;
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
        const counter = filled();
        const left = new Map<string, object>();
        for (const { name, node, amount, phase, gone } of changes) {
          const one = pod(name, node, { containers: [cpu(`${amount}`)] }, phase);
          counter.apply(gone ? 'DELETED' : 'MODIFIED', raw(one));
          if (gone) left.delete(name);
          else left.set(name, one);
        }
        const rebuilt = filled(...left.values());
        for (const node of ['m', 'n']) expect(counter.of(node)).to.deep.equal(rebuilt.of(node));
      }),
    );
  });

  it('returns the same object until an amount changes', () => {
    const one = pod('a', 'n', { containers: [cpu('1')] });
    const counter = filled(one);
    const before = counter.of('n');
    counter.apply('MODIFIED', raw({ ...one, status: { phase: 'Running', more: true } }));
    expect(counter.of('n')).to.equal(before);
    counter.apply('MODIFIED', raw(pod('a', 'n', { containers: [cpu('2')] })));
    expect(counter.of('n')).not.to.equal(before);
  });

  it('is formatted as eight annotations, with fractions of the allocatable amounts', () => {
    const spec = {
      containers: [
        container({ requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: '6', memory: '1536Mi' } }),
      ],
    };
    const counter = filled(pod('a', 'n', spec));
    const annotations = usageAnnotations(counter, 'platform.io');
    const facts = nodeFacts({ status: { allocatable: { cpu: '4', memory: '3Gi' } } });
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
    counter.apply('MODIFIED', raw(pod('a', 'n', { containers: [cpu('1')] })));
    expect(JSON.parse(`{${annotations({ name: 'n', facts })}}`)).to.include({
      'node.platform.io/cpu-requests': '1',
      'node.platform.io/cpu-limits': '0',
    });
    // A node that is cordoned, or reports no allocatable amounts.
    const full = nodeFacts({ status: { allocatable: { cpu: '0', memory: '0' } } });
    expect(JSON.parse(`{${annotations({ name: 'n', facts: full })}}`)).to.include({
      'node.platform.io/cpu-requests-fraction': '0%',
    });
    const bare = usageAnnotations(counter, 'platform.io')({ name: 'other', facts: nodeFacts({}) });
    expect(JSON.parse(`{${bare}}`)).to.include({
      'node.platform.io/cpu-requests': '0',
      'node.platform.io/cpu-requests-fraction': '0%',
    });
  });
});

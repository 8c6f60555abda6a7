// Tests of the JSON paths of custom resources.
import { expect } from 'chai';
import { assert, jsonValue, property, string } from 'fast-check';
import { JSONPath } from '../../../../../server/resources/profiles/json-path.ts';

const OBJECT = {
  metadata: { labels: { 'app.kubernetes.io/name': 'cart', team: 'blue' }, 'my-name': 'hyphen' },
  spec: { replicas: 3, ratio: 0.5, paused: false, hosts: ['a', 'b'], nothing: null, ports: [{ port: 1 }] },
  status: {
    conditions: [
      { type: 'Synced', status: 'False', 'last-probe': 'x' },
      { type: 'Ready', status: 'True', weight: 2 },
    ],
  },
};

describe('the JSON paths of Kubernetes', () => {
  for (const [path, values] of [
    ['.spec.replicas', [3]],
    ['spec.replicas', [3]],
    ['.spec.ratio', [0.5]],
    ['.spec.paused', [false]],
    ['.metadata.my-name', ['hyphen']],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['cart']],
    ["['metadata'].labels['team']", ['blue']],
    ['.metadata.labels["app.kubernetes.io/name"]', ['cart']],
    ['.spec.hosts[0]', ['a']],
    ['.spec.hosts[-1]', ['b']],
    ['.spec.hosts[*]', ['a', 'b']],
    ['.spec.hosts[0:1]', ['a']],
    ['.spec.ports[0].port', [1]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Ready')].status", ['True']],
    ['.status.conditions[?(@.weight>1)].type', ['Ready']],
    ['.status.conditions[*].type', ['Synced', 'Ready']],
    ['..port', [1]],
    // Only scalar values.
    ['.spec.hosts', []],
    ['.spec.nothing', []],
    ['.spec.missing.deeper', []],
    ['', []],
    // Invalid paths have no values.
    ['.status.conditions[?(@.type==]', []],
    ['.spec.hosts[', []],
    ['.spec.hosts[a b]', []],
  ] as const) {
    it(`are supported: ${path}`, () => {
      expect(new JSONPath(path).values(OBJECT)).to.deep.equal(values);
    });
  }

  it('are read from any value without an error', () => {
    assert(
      property(string(), jsonValue(), (path, value) => {
        expect(new JSONPath(path).values(value)).to.be.an('array');
        expect(new JSONPath('.spec[?(@.a=="b")].c').values(value)).to.be.an('array');
      }),
    );
  });
});

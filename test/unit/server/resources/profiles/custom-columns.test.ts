// Tests of JSON paths and printer columns of custom resources.
import { expect } from 'chai';
import { assert, jsonValue, property, string } from 'fast-check';
import { columnValues, JSONPath } from '../../../../../server/resources/profiles/custom-columns.ts';

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

describe('the values of printer columns', () => {
  const columns = columnValues([
    { name: 'Replicas', jsonPath: '.spec.replicas', type: 'integer' },
    { name: 'Team', jsonPath: '.metadata.labels.team', type: 'string' },
    { name: 'Paused', jsonPath: '.spec.paused', type: 'boolean' },
    { name: 'Bad', jsonPath: '.spec[', type: 'number' },
  ]);
  const values = (object: object): unknown =>
    Object.fromEntries(Array.from(columns, ([name, read]) => [name, read(object)]));

  it('are numbers and texts by their type', () => {
    expect(values(OBJECT)).to.deep.equal({
      Replicas: 3,
      Team: 'blue',
      Paused: 'false',
      Bad: Number.NEGATIVE_INFINITY,
    });
  });

  it('are the lowest ones if they are missing or have another type', () => {
    const missing = Number.NEGATIVE_INFINITY;
    expect(values({})).to.deep.equal({ Replicas: missing, Team: '', Paused: '', Bad: missing });
    expect(values({ spec: { replicas: '3' } })).to.include({ Replicas: missing });
  });
});

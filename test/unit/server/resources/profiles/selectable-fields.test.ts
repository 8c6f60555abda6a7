// Tests of the fields that field selectors support.
import { expect } from 'chai';
import type { Kind } from '../../../../../server/resources/kind.ts';
import { selectableFields } from '../../../../../server/resources/profiles/selectable-fields.ts';

const kind = (name: string, custom?: Kind['custom']): Kind => {
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true, custom };
};

/** The values of all fields of the kind, except empty ones. */
function values(of: Kind, object: object): Readonly<Record<string, string>> {
  const read = Object.entries(selectableFields(of)).map(([field, reads]) => [field, reads(object)]);
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

describe('the selectable fields', () => {
  it('of pods', () => {
    const spec = {
      nodeName: 'node-1',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      serviceAccountName: 'cart',
      hostNetwork: true,
    };
    const status = {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
      nominatedNodeName: 'n',
    };
    expect(values(kind('pods'), { spec, status })).to.deep.equal({
      'spec.nodeName': 'node-1',
      'spec.host': 'node-1',
      'spec.restartPolicy': 'Always',
      'spec.schedulerName': 'default-scheduler',
      'spec.serviceAccountName': 'cart',
      'spec.hostNetwork': 'true',
      'status.phase': 'Running',
      'status.podIP': '10.0.0.1',
      'status.nominatedNodeName': 'n',
    });
    expect(values(kind('pods'), {})).to.deep.equal({ 'spec.hostNetwork': 'false' });
  });

  it('of events, by the object that they are about', () => {
    const about = { kind: 'Pod', namespace: 'shop', name: 'cart', uid: 'u', fieldPath: 'spec' };
    const event = {
      involvedObject: about,
      reason: 'Failed',
      type: 'Warning',
      source: { component: 'kubelet' },
    };
    expect(values(kind('events'), event)).to.deep.equal({
      'involvedObject.kind': 'Pod',
      'involvedObject.namespace': 'shop',
      'involvedObject.name': 'cart',
      'involvedObject.uid': 'u',
      'involvedObject.fieldPath': 'spec',
      reason: 'Failed',
      source: 'kubelet',
      type: 'Warning',
    });
    expect(values(kind('events'), { reportingComponent: 'scheduler' })).to.deep.equal({
      reportingComponent: 'scheduler',
      source: 'scheduler',
    });
    expect(values(kind('events.events.k8s.io'), { regarding: about })).to.include({
      'regarding.name': 'cart',
    });
  });

  it('of other built-in kinds', () => {
    expect(values(kind('services'), { spec: { clusterIP: 'None', type: 'ClusterIP' } })).to.deep.equal({
      'spec.clusterIP': 'None',
      'spec.type': 'ClusterIP',
    });
    expect(values(kind('secrets'), { type: 'Opaque' })).to.deep.equal({ type: 'Opaque' });
    expect(values(kind('jobs.batch'), { status: { succeeded: 2 } })).to.deep.equal({
      'status.successful': '2',
    });
    expect(values(kind('jobs.batch'), {})).to.deep.equal({ 'status.successful': '0' });
    expect(values(kind('namespaces'), { status: { phase: 'Active' } })).to.deep.equal({
      'status.phase': 'Active',
    });
    expect(selectableFields(kind('configmaps'))).to.deep.equal({});
    expect(selectableFields(kind('constructor'))).to.deep.equal({});
  });

  it('of custom resources, from their definition', () => {
    const custom = {
      revision: '1',
      columns: [],
      selectableFields: ['.spec.color', '.spec.size', '.spec.on'],
    };
    const object = { spec: { color: 'blue', size: 3, on: false } };
    expect(values(kind('widgets.example.com', custom), object)).to.deep.equal({
      'spec.color': 'blue',
      'spec.size': '3',
      'spec.on': 'false',
    });
    expect(values(kind('widgets.example.com', custom), {})).to.deep.equal({});
    // Not those of the built-in kind of the same name.
    expect(Object.keys(selectableFields(kind('pods', custom)))).to.have.length(3);
  });
});

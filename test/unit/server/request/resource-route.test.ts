// Tests of the resources that metrics use as label values.
import { expect } from 'chai';
import type { Handler } from '../../../../server/request/request-context.ts';
import { knownResources } from '../../../../server/request/resource-route.ts';

const says =
  (text: string): Handler =>
  ({ response }) =>
    void response.end(text);

describe('the resources that metrics name', () => {
  const known = knownResources([
    {
      prefix: 'kapis',
      group: 'iam.platform.io',
      version: 'v1beta1',
      resource: 'users',
      subresources: ['password'],
      handler: says('users'),
    },
    {
      prefix: 'kapis',
      group: 'resources.platform.io',
      version: 'v1alpha3',
      resource: '*',
      serves: (resource) => resource === 'pods',
      handler: says('all'),
    },
  ]);

  it('are the routed resources, and their subresources', () => {
    expect(known('iam.platform.io', 'v1beta1', 'users', '')).to.equal(true);
    expect(known('iam.platform.io', 'v1beta1', 'users', 'password')).to.equal(true);
  });

  it('do not include other paths', () => {
    expect(known('iam.platform.io', 'v1beta1', 'users', 'status')).to.equal(false);
    expect(known('iam.platform.io', 'v1', 'users', '')).to.equal(false);
    expect(known('', 'v1', 'nodes', '')).to.equal(false);
  });

  it('are the resources that a route of all resources serves', () => {
    const served = (resource: string, subresource = '') =>
      known('resources.platform.io', 'v1alpha3', resource, subresource);
    expect(served('pods')).to.equal(true);
    expect(['x', '', 'toString'].map((resource) => served(resource))).to.deep.equal([false, false, false]);
    expect(served('pods', 'log')).to.equal(false);
    expect(known('resources.platform.io', 'v1', 'pods', '')).to.equal(false);
  });
});

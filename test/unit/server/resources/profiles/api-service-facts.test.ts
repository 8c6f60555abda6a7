// Tests of reading APIServices.
import { expect } from 'chai';
import { apiServiceOf } from '../../../../../server/resources/profiles/api-service-facts.ts';

describe('apiServiceOf', () => {
  const LABEL = 'kube-aggregator.kubernetes.io/automanaged';

  for (const [what, labels, spec, expected] of [
    ['a group without a dot', undefined, { group: 'apps' }, 'built-in'],
    ['the core group', undefined, {}, 'built-in'],
    ['a group of kube-apiserver', { [LABEL]: 'onstart' }, { group: 'networking.k8s.io' }, 'built-in'],
    ['a group of definitions', { [LABEL]: 'true' }, { group: 'gateway.networking.k8s.io' }, 'custom'],
    ['a group that a user has registered', {}, { group: 'networking.k8s.io' }, 'custom'],
    ['another value of the label', { [LABEL]: 'On Start' }, { group: 'a.example.com' }, 'custom'],
    ['labels that are no object', 'onstart', { group: 'a.example.com' }, 'custom'],
    ['an aggregated API', { [LABEL]: 'onstart' }, { group: 'metrics.k8s.io', service: {} }, 'aggregated'],
    ['no spec', {}, undefined, 'aggregated'],
  ] as const) {
    it(`reads ${what} as ${expected}`, () => {
      const { aggregated, isCustom } = apiServiceOf({ metadata: { labels }, spec });
      expect({ aggregated, isCustom }).to.deep.equal({
        aggregated: expected === 'aggregated',
        isCustom: expected === 'custom',
      });
    });
  }
});

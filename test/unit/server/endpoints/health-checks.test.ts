// Tests of the health checks of /readyz.
import { expect } from 'chai';
import { NOT_PROBED } from '../../../../hack/generate/workload.ts';
import type { HealthRegistry } from '../../../../server/endpoints/health.ts';
import { type HealthSources, healthRegistries } from '../../../../server/endpoints/health-checks.ts';

const SOUND: HealthSources = {
  cacheSynced: () => true,
  accessKnown: () => true,
  describeFrontProxy: () => 'last accepted',
  certificateReady: () => true,
  describeRegistration: () => 'trusted',
  oauthMissing: () => [],
  describeLogs: () => 'answers',
  describeProviders: () => 'company: ok',
  describeKinds: () => 'follows 2 kinds',
  describeGateway: () => '',
  stopping: () => false,
};

describe('the checks of /readyz', () => {
  let now = 0;

  function readyz(sources: Partial<HealthSources>): HealthRegistry {
    const registries = healthRegistries({ ...SOUND, ...sources }, () => now);
    const found = registries.find(({ path }) => path === 'readyz');
    if (!found) throw new Error('there is no /readyz');
    return found;
  }

  function failures(registry: HealthRegistry, excluded: readonly string[] = []): readonly string[] {
    const results = registry.run(registry.names.filter((name) => !excluded.includes(name)));
    return results.flatMap(({ name, failure }) =>
      failure instanceof Error ? [`${name}: ${failure.message}`] : [],
    );
  }

  it('pass if everything is available, and without an authorization server', () => {
    expect(failures(readyz({}))).to.deep.equal([]);
    expect(failures(readyz({ oauthMissing: () => undefined }))).to.deep.equal([]);
  });

  it('report unavailable data of the authorization server', () => {
    const registry = readyz({ oauthMissing: () => ['users', 'sessions'] });
    expect(failures(registry, ['start'])).to.deep.equal([
      'oauth: not loaded, or not watched for too long: users, sessions',
    ]);
  });

  it('keep a new replica out of the Service until its first lists, as probed, but not if they fail later', () => {
    let isMissing = true;
    for (const missing of [
      { cacheSynced: () => !isMissing },
      { accessKnown: () => !isMissing },
      { oauthMissing: () => (isMissing ? ['users'] : []) },
    ]) {
      isMissing = true;
      const registry = readyz(missing);
      expect(failures(registry, NOT_PROBED)).to.deep.equal(['start: the first lists are not complete']);
      isMissing = false;
      expect(failures(registry, NOT_PROBED)).to.deep.equal([]);
      isMissing = true;
      expect(failures(registry, NOT_PROBED)).to.deep.equal([]);
    }
  });

  it('add a replica without its first lists to the Service after 20 seconds, because it may be the only one', () => {
    const registry = readyz({ cacheSynced: () => false });
    expect(failures(registry, NOT_PROBED)).to.have.length(1);
    now += 20_000;
    expect(failures(registry, NOT_PROBED)).to.deep.equal([]);
  });
});

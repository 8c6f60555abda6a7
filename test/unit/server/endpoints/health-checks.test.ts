// Tests of the health checks of /readyz.
import { expect } from 'chai';
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
  function failures(sources: Partial<HealthSources>): readonly string[] {
    const readyz = healthRegistries({ ...SOUND, ...sources }).find(({ path }) => path === 'readyz');
    const results = readyz?.run(readyz.names) ?? [];
    return results.flatMap(({ name, failure }) =>
      failure instanceof Error ? [`${name}: ${failure.message}`] : [],
    );
  }

  it('pass if everything is available, and without an authorization server', () => {
    expect(failures({})).to.deep.equal([]);
    expect(failures({ oauthMissing: () => undefined })).to.deep.equal([]);
  });

  it('report unavailable data of the authorization server', () => {
    expect(failures({ oauthMissing: () => ['users', 'sessions'] })).to.deep.equal([
      'oauth: not loaded, or not watched for too long: users, sessions',
    ]);
  });
});

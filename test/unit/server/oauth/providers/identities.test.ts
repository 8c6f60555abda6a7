// Tests how people of identity providers get users. test/integration has the same with a directory and a cluster.
import { expect } from 'chai';
import { identityName } from '../../../../../apis/iam/v1beta1/identity-resource.ts';
import { newServiceUnavailable, StatusError } from '../../../../../apis/meta/v1/errors.ts';
import {
  type AccountRules,
  Identities,
  type KnownPerson,
  type NewPerson,
} from '../../../../../server/oauth/providers/identities.ts';
import {
  passedGroups,
  proposedName,
  userNameOf,
} from '../../../../../server/oauth/providers/person-rules.ts';
import type { AuthenticatedPerson } from '../../../../../server/oauth/providers/provider.ts';
import type { Identity, NewIdentity } from '../../../../../server/oauth/users/identity-store.ts';
import { memoryKeyRing } from '../../../../support/oauth/memory-key-ring.ts';
import { MemoryUsers } from '../../../../support/oauth/memory-users.ts';
import { log } from '../../../../support/oauth/signed-in.ts';
import { rejection } from '../../../../support/rejection.ts';

const CALL = { signal: new AbortController().signal };
const CHOOSE = { name: 'company', accounts: 'choose', groups: { allow: [], prefix: '' } } as const;
const RULES = { name: 'company', accounts: 'create', groups: { allow: [], prefix: '' } } as const;

class DatedUsers extends MemoryUsers {
  /** Called after a user is created. */
  created = (): void => undefined;

  override async create(user: Parameters<MemoryUsers['create']>[0]) {
    const creationTimestamp = new Date(1_000_000).toISOString();
    const created = await super.create({ ...user, metadata: { ...user.metadata, creationTimestamp } });
    this.created();
    return created;
  }
}

class Scene {
  now = 1_000_000;
  readonly users = new DatedUsers();
  readonly stored = new Map<string, Identity>();
  readonly refreshTokens = new Map<string, string>();
  failing: Error | undefined;
  readonly identities: Identities;

  private constructor(keys: Awaited<ReturnType<typeof memoryKeyRing>>) {
    this.identities = new Identities({
      store: {
        get: (name) => this.stored.get(name),
        catchUp: async () => undefined,
        create: async (identity: NewIdentity, _linkedAt, signal) => {
          signal.throwIfAborted();
          if (this.failing) throw this.failing;
          const name = identityName(identity);
          if (this.stored.has(name)) throw new StatusError(409, 'AlreadyExists', 'already exists');
          const created = { ...identity, name, uid: `uid-of-${name}` };
          this.stored.set(name, created);
          return created;
        },
      },
      users: this.users,
      credentials: { get: () => undefined },
      keys,
      seal: { seal: async (text) => `sealed ${text}` },
      refreshTokens: {
        set: async ({ name }, token) => {
          this.refreshTokens.set(name, token);
        },
      },
      group: 'iam.platform.io',
      administrators: 'platform-admins',
      now: () => this.now,
      log,
    });
  }

  get names(): readonly string[] {
    return [...this.users.objects()].map(({ metadata }) => metadata.name);
  }

  static async create(): Promise<Scene> {
    return new Scene(await memoryKeyRing());
  }

  resolve(name: string, subject = `subject-of-${name}`) {
    return this.identities.resolve(newPerson(name, subject), RULES, CALL);
  }

  async known(name: string): Promise<KnownPerson> {
    const known = await this.resolve(name);
    if (typeof known === 'string' || !('account' in known)) throw new Error(JSON.stringify(known));
    return known;
  }

  /** A person who has no user. */
  async unnamed(name: string, subject?: string): Promise<NewPerson> {
    const found = await this.identities.resolve(newPerson(name, subject ?? name), CHOOSE, CALL);
    if (typeof found === 'string' || 'account' in found) throw new Error(JSON.stringify(found));
    return found;
  }
}

function newPerson(name: string, subject: string): AuthenticatedPerson {
  return {
    person: { issuer: 'ldap:///dc=example', subject, name, groups: [] },
    upstream: 'state',
    refreshToken: 'token',
  };
}

describe('Identities', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.create();
  });

  it('completes a first sign-in that was interrupted after the user was created', async () => {
    scene.failing = newServiceUnavailable('the cluster is unavailable');
    expect((await rejection(scene.resolve('zoe'))).message).to.contain('unavailable');
    expect(scene.users.get('zoe')?.name).to.equal('zoe');
    scene.failing = undefined;
    // Not by another person with the same name.
    expect(await scene.resolve('zoe', 'another')).to.equal('name_taken');
    const { account, authentication } = await scene.known('zoe');
    expect(account.name).to.equal('zoe');
    expect(authentication.proof).to.include({
      kind: 'identity',
      checkedAt: scene.now,
      upstream: 'sealed state',
    });
    expect([...scene.refreshTokens]).to.have.nested.property('[0][1]', 'token');
  });

  it('does not link again after an administrator has deleted the Identity', async () => {
    await scene.known('zoe');
    scene.stored.clear();
    scene.now += 6 * 60_000;
    expect(await scene.resolve('zoe')).to.equal('name_taken');
  });

  it('does not believe an annotation of another user', async () => {
    scene.failing = newServiceUnavailable('the cluster is unavailable');
    await rejection(scene.resolve('zoe'));
    const annotations = scene.users.object('zoe')?.metadata.annotations ?? {};
    await scene.users.create({ metadata: { name: 'victim', annotations }, spec: {} });
    scene.failing = undefined;
    expect(await scene.resolve('victim', 'subject-of-zoe')).to.equal('name_taken');
  });
});

describe('a name that the person has chosen', () => {
  let scene: Scene;
  beforeEach(async () => {
    scene = await Scene.create();
  });
  const choose = (person: NewPerson, name: string, rules: AccountRules | undefined = CHOOSE) =>
    scene.identities.createNamed(person, name, rules, CALL);

  it('leaves one user of a person who chooses in two browsers at the same time', async () => {
    const person = await scene.unnamed('zoe');
    // The link of the first one is stored after the second one has created its user.
    const results = await Promise.all([choose(person, 'one'), choose(person, 'two')]);
    const names = results.map((result) => (typeof result === 'string' ? result : result.account.name));
    expect(new Set(names).size, names.join()).to.equal(1);
    expect(scene.names).to.deep.equal([names[0]]);
  });

  it('gets its person although the browser disconnects, so that a person cannot take many names', async () => {
    const person = await scene.unnamed('zoe');
    const leaving = new AbortController();
    scene.users.created = () => leaving.abort();
    const call = { signal: leaving.signal };
    await scene.identities.createNamed(person, 'one', CHOOSE, call).catch(() => undefined);
    expect(await choose(person, 'two')).to.equal('named_meanwhile');
    expect(scene.names).to.deep.equal(['one']);
    expect([...scene.stored.values()].map(({ user }) => user)).to.deep.equal(['one']);
  });

  it('is refused if it is reserved, and if the policy has changed meanwhile', async () => {
    const person = await scene.unnamed('zoe');
    for (const name of ['admin', 'root', 'kubernetes-admin', 'ks-apiserver-check', 'system', 'a_b', '']) {
      expect(await choose(person, name), name).to.equal('name_taken');
    }
    for (const rules of [RULES, { ...RULES, accounts: 'link' }] as const) {
      expect(await choose(person, 'zoe', rules)).to.equal('not_linked');
    }
    expect(await scene.identities.createNamed(person, 'zoe', undefined, CALL)).to.equal('not_linked');
    expect(scene.names).to.deep.equal([]);
  });

  it('is not proposed from a text of megabytes, whose conversion takes seconds', async () => {
    const { person } = await scene.unnamed('a.'.repeat(5_000_000), 'subject-of-zoe');
    expect(person.name).to.equal(undefined);
    expect(await scene.resolve('a.'.repeat(5_000_000), 'subject-of-zoe')).to.equal('name_invalid');
  });

  it('is proposed from the name at the provider', () => {
    for (const [name, proposed] of [
      ['Zoé Müller', 'zoe-muller'],
      ['CORP\\zoe', 'zoe'],
      ['zoe@example.com', 'zoe'],
      ['ＺＯＥ', 'zoe'],
      [`${'x'.repeat(62)}.y`, 'x'.repeat(62)],
      ['管理员', ''],
      ['admin', ''],
      ['Ａdmin', ''],
      [undefined, ''],
    ] as const) {
      expect(proposedName(name), name).to.equal(proposed);
    }
  });
});

describe('userNameOf', () => {
  it('derives a valid name by one rule, or none', () => {
    for (const [name, derived] of [
      ['zoe', 'zoe'],
      ['Jane_Doe', 'jane-doe'],
      ['zoe@example.com', 'zoe-example.com'],
      ['CORP\\zoe', 'corp-zoe'],
      ['-a..b-', 'a.b'],
      ['zoé', undefined],
      ['ＺＯＥ', undefined],
      ['zoe\u202e', undefined],
      ['zoe\n', undefined],
      ['', undefined],
      ['___', undefined],
      ['admin', undefined],
      ['Kube_Proxy', undefined],
      ['kubeadmin', undefined],
      ['Cluster_Admin', undefined],
      ['x'.repeat(64), undefined],
      [undefined, undefined],
    ] as const) {
      expect(userNameOf(name), name).to.equal(derived);
    }
  });
});

describe('passedGroups', () => {
  const passed = (groups: readonly string[], allow: readonly string[], prefix = '') =>
    passedGroups(groups, { allow, prefix }, 'platform-admins');

  it('has an allowlist and a prefix', () => {
    const groups = ['dev', 'dev-ops', 'admins', 'dev'];
    expect(passed(groups, [])).to.deep.equal([]);
    expect(passed(groups, ['dev'])).to.deep.equal(['dev']);
    expect(passed(groups, ['dev*'], 'corp-')).to.deep.equal(['corp-dev', 'corp-dev-ops']);
    expect(passed(groups, ['*', 'absent'])).to.deep.equal(['admins', 'dev', 'dev-ops']);
  });

  it('passes the group of administrators by its own name only, also when the prefix makes it', () => {
    expect(passed(['platform-admins'], ['*'])).to.deep.equal([]);
    expect(passed(['platform-admins'], ['plat*'])).to.deep.equal([]);
    expect(passed(['admins'], ['*', 'admins'], 'platform-')).to.deep.equal([]);
    expect(passed(['platform-admins'], ['platform-admins'])).to.deep.equal(['platform-admins']);
  });

  it('never passes reserved, unprintable or long names', () => {
    const hostile = [
      'system:masters',
      'system:',
      ':',
      'a:b',
      '',
      ' ',
      ' a',
      'a ',
      'a\nb',
      'a\0',
      'a\ud800b',
      'x'.repeat(129),
    ];
    expect(passed(hostile, ['*', ...hostile])).to.deep.equal([]);
    expect(passed(['masters'], ['*'], 'system:')).to.deep.equal([]);
  });

  it('passes names that a person cannot tell from others only by their own names', () => {
    const alike = [
      'de\u200bv',
      'dev\u200d',
      '\u202edev',
      'de\u2066v\u2069',
      'dev\u00ad',
      'dev\ufe0f',
      'dev\u{e0061}',
      'dev\u3164',
      'dev\u034f',
      'dev\ufeffs',
      'my\u00a0dev',
      'my\u2028dev',
      'dev\ue000',
      'de\u0301v',
    ];
    expect(passed(alike, ['*', 'd*', '\u202e*'])).to.deep.equal([]);
    expect(passed(alike, alike)).to.have.members(alike);
    const legible = [
      'Domain Users',
      'Développeurs',
      'Отдел IT',
      '開発（東京）',
      'R&D / QA_1',
      'مطورون',
      'विकास',
      '🚀',
    ];
    expect(passed(legible, ['*'])).to.have.members(legible);
  });

  it('converts no name of megabytes', () => {
    expect(passed([`group${'.'.repeat(15_000_000)}`, 'group-1'], ['group*'])).to.deep.equal(['group-1']);
  });

  it('passes all groups or none', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `group-${index}`);
    expect(passed(many, ['*'])).to.equal(undefined);
    expect(passed(many, ['group-1', 'group-2'])).to.deep.equal(['group-1', 'group-2']);
    expect(passed(many.slice(0, 100), ['*'])).to.have.length(100);
  });
});

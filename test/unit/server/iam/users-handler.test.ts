// Tests of the handler of the users API.
import { expect } from 'chai';
import { document, GROUP, UsersSite } from './users-site.ts';

describe('the users handler', () => {
  let site: UsersSite;
  before(async () => {
    site = await new UsersSite().start();
  });
  after(() => site?.stop());

  const fields = (answer: Awaited<ReturnType<UsersSite['ask']>>): (string | undefined)[] =>
    (answer.json.details?.causes ?? []).map(({ field }) => field);

  it('creates a user once and returns it as a Kubernetes object', async () => {
    const spec = { email: 'kim@example.com', displayName: 'Kim', disabled: false };
    const made = await site.ask('boss', 'POST', '', document('kim', spec, { labels: { team: 'a' } }));
    expect(made.status).to.equal(201);
    expect(made.json).to.include({ kind: 'User', apiVersion: `${GROUP}/v1beta1` });
    expect(made.json.spec).to.deep.equal(spec);
    expect(made.headers['cache-control']).to.equal('no-store');
    const shown = await site.ask('boss', 'GET', '/kim');
    expect(shown.status).to.equal(200);
    expect(shown.json).to.deep.equal(made.json);
    expect(shown.json.metadata?.['labels']).to.deep.equal({ team: 'a' });
    const again = await site.ask('boss', 'POST', '', document('kim'));
    expect([again.status, again.json.reason]).to.deep.equal([409, 'AlreadyExists']);
  });

  it('denies every request that RBAC denies', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/kim'],
      ['PUT', '/kim'],
      ['DELETE', '/kim'],
      ['PUT', '/kim/password'],
    ] as const) {
      const answer = await site.ask('nobody', method, path, method === 'GET' ? undefined : document('kim'));
      expect(answer.status, `${method} ${path}`).to.equal(403);
    }
  });

  it('names every invalid field once, all at once', async () => {
    const answer = await site.ask('boss', 'POST', '', {
      metadata: { name: 'Not A Name' },
      spec: { email: 'x', groups: ['a:b', 'ok', 7], password: 'secret', disabled: 'no' },
      more: 1,
    });
    expect(answer.status).to.equal(422);
    expect(answer.json.reason).to.equal('Invalid');
    expect(answer.json.message).to.match(/^User\.iam\.platform\.io "Not A Name" is invalid: /);
    expect(answer.json.details?.name).to.equal('Not A Name');
    expect(fields(answer)).to.have.members([
      'more',
      'metadata.name',
      'spec.password',
      'spec.email',
      'spec.groups[0]',
      'spec.groups[2]',
      'spec.disabled',
    ]);
    expect(answer.body).to.include('an address such as name@example.com').and.not.include('secret');
    expect(fields(await site.ask('boss', 'POST', '', { metadata: {} }))).to.deep.equal([
      'spec',
      'metadata.name',
    ]);
    const once = { metadata: { name: 'A'.repeat(64) }, spec: { groups: [''] } };
    expect(fields(await site.ask('boss', 'POST', '', once))).to.deep.equal([
      'metadata.name',
      'spec.groups[0]',
    ]);
    const version = await site.ask('boss', 'POST', '', { ...document('v'), apiVersion: 'v1' });
    expect([version.status, version.json.reason]).to.deep.equal([400, 'BadRequest']);
    expect(version.json.message).to.include(`expected API version (${GROUP}/v1beta1)`);
  });

  it('bounds the number of causes and the length of echoed names', async () => {
    const unknown = Array.from({ length: 1000 }, (_, i) => [`${i}-${'x'.repeat(i === 0 ? 9000 : 1)}`, 1]);
    const document = { metadata: { name: 'k'.repeat(9000) }, spec: {}, ...Object.fromEntries(unknown) };
    const answer = await site.ask('boss', 'POST', '', document);
    expect(answer.status).to.equal(422);
    expect(fields(answer)).to.have.length(40);
    expect(answer.body).to.have.length.below(10_000).and.include('and 961 more');
  });

  it('accepts only a JSON object in UTF-8', async () => {
    expect((await site.ask('boss', 'POST', '', '{"metadata":')).status).to.equal(400);
    for (const body of ['null', '[]', '1', '"text"']) {
      const answer = await site.ask('boss', 'POST', '', body);
      expect([answer.status, answer.json.message]).to.deep.equal([400, 'the body must be a JSON object']);
    }
    expect((await site.ask('boss', 'POST', '')).status).to.equal(415);
    expect((await site.ask('boss', 'POST', '', `"${'x'.repeat(70_000)}"`)).status).to.equal(413);
  });

  it('accepts in a POST only the fields that it stores, and names all others', async () => {
    const answer = await site.ask('boss', 'POST', '', {
      ...document(
        'extra',
        {},
        {
          uid: 'u',
          resourceVersion: '1',
          generation: 1,
          creationTimestamp: '2026-01-02T03:04:05Z',
          generateName: 'extra-',
          finalizers: ['example.com/f'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
          managedFields: [],
        },
      ),
      status: { lastLoginTime: '2026-01-02T03:04:05Z' },
    });
    expect([answer.status, answer.json.reason]).to.deep.equal([422, 'Invalid']);
    expect(fields(answer)).to.have.members([
      'metadata.uid',
      'metadata.resourceVersion',
      'metadata.generation',
      'metadata.creationTimestamp',
      'metadata.generateName',
      'metadata.finalizers',
      'metadata.ownerReferences',
      'metadata.managedFields',
      'status',
    ]);
    expect(answer.json.message).to.include('metadata.finalizers: unknown or read-only field');
    expect(site.users.get('extra')).to.equal(undefined);
  });

  it('treats `creationTimestamp: null` of Go clients as absent, and rejects null elsewhere', async () => {
    const created = await site.ask('boss', 'POST', '', document('zero', {}, { creationTimestamp: null }));
    expect([created.status, created.json.spec]).to.deep.equal([201, {}]);
    const rejected = await site.ask('boss', 'POST', '', {
      ...document('null', { email: null }, { labels: null }),
      apiVersion: null,
    });
    expect([rejected.status, new Set(fields(rejected))]).to.deep.equal([
      422,
      new Set(['apiVersion', 'metadata.labels', 'spec.email']),
    ]);
  });

  it('rejects a string with a lone surrogate, wherever it is', async () => {
    const lone = '\ud800';
    const answer = await site.ask('boss', 'POST', '', {
      ...document(
        'lone',
        { displayName: `a${lone}`, email: `${lone}@example.com`, groups: [`g${lone}`] },
        { labels: { a: lone }, annotations: { [lone]: 'b' } },
      ),
    });
    expect(answer.status).to.equal(422);
    expect(fields(answer)).to.have.members([
      'spec.displayName',
      'spec.email',
      'spec.groups[0]',
      'metadata.labels.a',
      'metadata.annotations',
    ]);
    const password = await site.ask('boss', 'PUT', '/lone/password', { password: `good password ${lone}` });
    expect([password.status, fields(password)]).to.deep.equal([422, ['password']]);
    const whole = document('whole', { displayName: '\ud83d\udc0e' });
    expect((await site.ask('boss', 'POST', '', whole)).status).to.equal(201);
  });

  it('returns 404 and 405 for unknown users, and for other paths and methods', async () => {
    for (const [method, path] of [
      ['GET', '/kim/status'],
      ['PUT', '/kim/password/x'],
      ['GET', '/ghost'],
      ['PUT', '/ghost'],
      ['DELETE', '/ghost'],
    ] as const) {
      const answer = await site.ask('boss', method, path, method === 'PUT' ? document('ghost') : undefined);
      expect(answer.status, `${method} ${path}`).to.equal(404);
    }
    for (const [method, path, allow, said] of [
      ['PATCH', '/kim', 'GET, HEAD, PUT, DELETE', 'PATCH of resource users.iam.platform.io'],
      ['DELETE', '', 'GET, HEAD, POST', 'DELETE of resource users.iam.platform.io'],
      ['GET', '/kim/password', 'PUT', 'GET of resource users/password.iam.platform.io'],
    ] as const) {
      const answer = await site.ask('boss', method, path);
      expect([answer.status, answer.headers['allow']], `${method} ${path}`).to.deep.equal([405, allow]);
      expect(answer.json.message).to.equal(`the server does not allow ${said}`);
    }
    expect((await site.ask('boss', 'GET', '?watch=true')).status).to.equal(405);
  });

  it('rejects dryRun and changes nothing', async () => {
    await site.ask('boss', 'POST', '', document('kim'));
    for (const [method, path, body] of [
      ['POST', '?dryRun=All', document('dry')],
      ['PUT', '/kim?dryRun=All', document('kim')],
      ['DELETE', '/kim?dryRun=All', undefined],
    ] as const) {
      const answer = await site.ask('boss', method, path, body);
      expect([answer.status, answer.json.reason], `${method} ${path}`).to.deep.equal([400, 'BadRequest']);
    }
    expect((await site.ask('boss', 'GET', '/dry')).status).to.equal(404);
    expect((await site.ask('boss', 'GET', '/kim')).status).to.equal(200);
  });

  it('returns 503 until the cache is synced', async () => {
    site.users.synced = false;
    const answer = await site.ask('boss', 'GET', '/kim');
    site.users.synced = true;
    expect(answer.status).to.equal(503);
    expect(answer.headers['retry-after']).to.equal('1');
  });

  describe('a PUT', () => {
    it('replaces the spec, and keeps labels that the body omits', async () => {
      await site.ask('boss', 'POST', '', document('upd', { email: 'a@b.c' }, { labels: { a: 'b' } }));
      const answer = await site.ask('boss', 'PUT', '/upd', document('upd', { displayName: 'U' }));
      expect(answer.status).to.equal(200);
      expect(answer.json.spec).to.deep.equal({ displayName: 'U' });
      expect(answer.json.metadata?.['labels']).to.deep.equal({ a: 'b' });
      expect((await site.ask('boss', 'PUT', '/upd', document('renamed'))).status).to.equal(400);
    });

    it('accepts what was read, and returns 409 after another write', async () => {
      const made = await site.ask('boss', 'POST', '', document('cas'));
      const { json } = made;
      expect((await site.ask('boss', 'PUT', '/cas', json)).status).to.equal(200);
      const stale = await site.ask('boss', 'PUT', '/cas', json);
      expect([stale.status, stale.json.reason]).to.deep.equal([409, 'Conflict']);
      const other = await site.ask('boss', 'PUT', '/cas', document('cas', {}, { uid: 'another' }));
      expect(other.status).to.equal(409);
    });

    it('accepts every field of a GET, but no other value of a read-only field', async () => {
      const finalizers = ['example.com/f'];
      const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }];
      const metadata = {
        name: 'kept',
        finalizers,
        ownerReferences,
        creationTimestamp: '2026-01-02T03:04:05Z',
      };
      await site.users.create({ metadata, spec: {}, status: { lastLoginTime: '2026-01-02T03:05:00Z' } });
      const { json } = await site.ask('boss', 'GET', '/kept');
      expect((await site.ask('boss', 'PUT', '/kept', json)).status).to.equal(200);
      const others = { finalizers: [], ownerReferences: [], creationTimestamp: '2026-01-02T03:04:06Z' };
      const answer = await site.ask('boss', 'PUT', '/kept', document('kept', {}, others));
      expect([answer.status, fields(answer)]).to.deep.equal([
        422,
        ['metadata.creationTimestamp', 'metadata.finalizers', 'metadata.ownerReferences'],
      ]);
      expect(answer.json.message).to.include('metadata.finalizers: field is immutable');
      const unknown = await site.ask('boss', 'PUT', '/kept', document('kept', {}, { managedFields: [] }));
      expect([unknown.status, fields(unknown)]).to.deep.equal([422, ['metadata.managedFields']]);
    });

    it('that disables a user deletes its sessions only', async () => {
      await site.ask('boss', 'POST', '', document('off'));
      site.sessions.set('off', ['s-1', 's-2']).set('on', ['s-3']);
      await site.ask('boss', 'PUT', '/off', document('off', { email: 'x@y.z' }));
      expect(site.sessions.get('off')).to.have.length(2);
      await site.ask('boss', 'PUT', '/off', document('off', { disabled: true }));
      expect(site.sessions.get('off')).to.deep.equal([]);
      expect(site.sessions.get('on')).to.deep.equal(['s-3']);
    });
  });

  it('deletes a user and its sessions', async () => {
    const made = await site.ask('boss', 'POST', '', document('gone'));
    site.sessions.set('gone', ['s-9']);
    const answer = await site.ask('boss', 'DELETE', '/gone');
    expect(answer.status).to.equal(200);
    expect(answer.json).to.include({ kind: 'Status', message: 'success' });
    expect(answer.json.details).to.include({ uid: made.json.metadata?.['uid'] });
    expect(site.users.get('gone')).to.equal(undefined);
    expect(site.sessions.get('gone')).to.deep.equal([]);
  });

  describe('groups', () => {
    it('require permission to impersonate them, and the response names every denied group', async () => {
      site.allow('helper', 'impersonate groups/dev');
      const answer = await site.ask(
        'helper',
        'POST',
        '',
        document('esc', { groups: ['dev', 'ops', 'platform-admins'] }),
      );
      expect([answer.status, answer.json.reason]).to.deep.equal([403, 'Forbidden']);
      expect(answer.json.message).to.include(
        'granting or removing the groups "ops", "platform-admins" requires permission to impersonate them',
      );
      expect(site.users.get('esc')).to.equal(undefined);
      expect((await site.ask('helper', 'POST', '', document('esc', { groups: ['dev'] }))).status).to.equal(
        201,
      );
    });

    it('require the same permission for removal, so that a help desk cannot demote an administrator', async () => {
      site.allow('helper', 'impersonate groups/dev');
      await site.users.create({ metadata: { name: 'boss2' }, spec: { groups: ['platform-admins'] } });
      const kept = document('boss2', { groups: ['platform-admins', 'dev'], displayName: 'B' });
      expect((await site.ask('helper', 'PUT', '/boss2', kept)).status).to.equal(200);
      for (const spec of [{}, { groups: [] }, { groups: ['dev'] }]) {
        const denied = await site.ask('helper', 'PUT', '/boss2', document('boss2', spec));
        expect(denied.status).to.equal(403);
        expect(denied.json.message).to.include(
          'granting or removing the group "platform-admins" requires permission to impersonate it',
        );
      }
      expect(site.users.get('boss2')?.groups).to.deep.equal(['platform-admins', 'dev']);
      const withoutDev = document('boss2', { groups: ['platform-admins'] });
      expect((await site.ask('helper', 'PUT', '/boss2', withoutDev)).status).to.equal(200);
    });
  });
});

describe('the list of users', () => {
  let site: UsersSite;
  before(async () => {
    site = await new UsersSite().start();
    const people = {
      zoe: { groups: ['dev'] },
      amy: { displayName: 'Zoe too' },
      bob: { groups: ['dev', 'ops'], disabled: true },
      cat: { email: 'cat@zoo.example' },
    };
    for (const [name, spec] of Object.entries(people)) await site.users.create({ metadata: { name }, spec });
  });
  after(() => site?.stop());

  const names = async (query: string): Promise<string> => {
    const { json } = await site.ask('boss', 'GET', query);
    return `${(json.items ?? []).map(({ metadata }) => metadata.name).join(' ')} of ${json.totalItems}`;
  };

  it('filters, sorts and pages', async () => {
    for (const [query, expected] of [
      ['', 'amy bob cat zoe of 4'],
      ['?limit=2', 'amy bob of 4'],
      ['?limit=3&page=2', 'zoe of 4'],
      ['?limit=3&page=9', ' of 4'],
      ['?group=dev', 'bob zoe of 2'],
      ['?group=de', ' of 0'],
      ['?name=ZO', 'amy cat zoe of 3'],
      ['?disabled=true', 'bob of 1'],
      ['?disabled=false&group=dev', 'zoe of 1'],
    ] as const) {
      expect(await names(query), query).to.equal(expected);
    }
    for (const query of 'limit=0 limit=1001 limit=x page=0 disabled=no labelSelector=a name=a&name=b'.split(
      ' ',
    )) {
      const answer = await site.ask('boss', 'GET', `?${query}`);
      expect([answer.status, answer.json.reason], query).to.deep.equal([400, 'BadRequest']);
    }
  });
});

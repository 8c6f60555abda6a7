// Tests of the handler of the users API.
import { expect } from 'chai';
import { newServiceUnavailable } from '../../../../apis/meta/v1/errors.ts';
import { document, fieldsOf, GROUP, type UsersAnswer, UsersSite } from './users-site.ts';

describe('the users handler', () => {
  let site: UsersSite;
  before(async () => {
    site = await new UsersSite().start();
  });
  after(() => site?.stop());

  const post = (body?: object | string): Promise<UsersAnswer> => site.ask('boss', 'POST', '', body);
  const put = (name: string, body: object): Promise<UsersAnswer> => site.ask('boss', 'PUT', `/${name}`, body);
  const get = (name: string): Promise<UsersAnswer> => site.ask('boss', 'GET', `/${name}`);

  function expectInvalid(answer: UsersAnswer, ...invalid: readonly string[]): void {
    expect([answer.status, answer.json.reason]).to.deep.equal([422, 'Invalid']);
    expect(fieldsOf(answer)).to.have.members(invalid);
  }

  it('creates a user once and returns it as a Kubernetes object', async () => {
    const spec = { email: 'kim@example.com', displayName: 'Kim', disabled: false };
    const made = await post(document('kim', spec, { labels: { team: 'a' } }));
    expect(made.status).to.equal(201);
    expect(made.json).to.include({ kind: 'User', apiVersion: `${GROUP}/v1beta1` });
    expect(made.json.spec).to.deep.equal(spec);
    expect(made.headers['cache-control']).to.equal('no-store');
    const shown = await get('kim');
    expect(shown.status).to.equal(200);
    expect(shown.json).to.deep.equal(made.json);
    expect(shown.json.metadata?.['labels']).to.deep.equal({ team: 'a' });
    const again = await post(document('kim'));
    expect([again.status, again.json.reason]).to.deep.equal([409, 'AlreadyExists']);
  });

  it('names every invalid field once, all at once', async () => {
    const spec = { email: 'x', groups: ['a:b', 'ok', 7], password: 'secret', disabled: 'no' };
    const groups = ['spec.groups[0]', 'spec.groups[2]'];
    const answer = await post({ metadata: { name: 'Not A Name' }, spec, more: 1 });
    const wrong = ['spec.password', 'spec.email', 'spec.disabled', ...groups];
    expectInvalid(answer, 'more', 'metadata.name', ...wrong);
    expect(answer.json.message).to.match(/^User\.iam\.platform\.io "Not A Name" is invalid: /);
    expect(answer.json.details?.name).to.equal('Not A Name');
    expect(answer.body).to.include('an address such as name@example.com').and.not.include('secret');
    expectInvalid(await post({ metadata: {} }), 'spec', 'metadata.name');
    const once = { metadata: { name: 'A'.repeat(64) }, spec: { groups: [''] } };
    expectInvalid(await post(once), 'metadata.name', 'spec.groups[0]');
    const version = await post({ ...document('v'), apiVersion: 'v1' });
    expect([version.status, version.json.reason]).to.deep.equal([400, 'BadRequest']);
    expect(version.json.message).to.include(`expected API version (${GROUP}/v1beta1)`);
  });

  it('bounds the number of causes and the length of echoed names', async () => {
    const unknown = Array.from({ length: 1000 }, (_, i) => [`${i}-${'x'.repeat(i === 0 ? 9000 : 1)}`, 1]);
    const document = { metadata: { name: 'k'.repeat(9000) }, spec: {}, ...Object.fromEntries(unknown) };
    const answer = await post(document);
    expect(fieldsOf(answer)).to.have.length(40);
    expect(answer.body).to.have.length.below(10_000).and.include('and 961 more');
  });

  it('accepts only a JSON object in UTF-8', async () => {
    expect((await post('{"metadata":')).status).to.equal(400);
    for (const body of ['null', '[]', '1', '"text"']) {
      const answer = await post(body);
      expect([answer.status, answer.json.message]).to.deep.equal([400, 'the body must be a JSON object']);
    }
    expect((await post()).status).to.equal(415);
    expect((await post(`"${'x'.repeat(70_000)}"`)).status).to.equal(413);
  });

  it('accepts in a POST only the fields that it stores, and names all others', async () => {
    const metadata = {
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
      generateName: 'extra-',
      finalizers: ['example.com/f'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
      managedFields: [],
    };
    const status = { lastLoginTime: '2026-01-02T03:04:05Z' };
    const answer = await post({ ...document('extra', {}, metadata), status });
    expectInvalid(answer, ...Object.keys(metadata).map((field) => `metadata.${field}`), 'status');
    expect(answer.json.message).to.include('metadata.finalizers: unknown or read-only field');
    expect(site.users.get('extra')).to.equal(undefined);
  });

  it('treats `creationTimestamp: null` of Go clients as absent, and rejects null elsewhere', async () => {
    const created = await post(document('zero', {}, { creationTimestamp: null }));
    expect([created.status, created.json.spec]).to.deep.equal([201, {}]);
    const nulls = { ...document('null', { email: null }, { labels: null }), apiVersion: null };
    const rejected = await post(nulls);
    expect(rejected.status).to.equal(422);
    expect([...new Set(fieldsOf(rejected))]).to.have.members(['apiVersion', 'metadata.labels', 'spec.email']);
  });

  it('rejects a string with a lone surrogate, wherever it is', async () => {
    const lone = '\ud800';
    const spec = { displayName: `a${lone}`, email: `${lone}@example.com`, groups: [`g${lone}`] };
    const metadata = { labels: { a: lone }, annotations: { [lone]: 'b' } };
    const keys = ['metadata.labels.a', 'metadata.annotations'];
    const answer = await post(document('lone', spec, metadata));
    expectInvalid(answer, 'spec.displayName', 'spec.email', 'spec.groups[0]', ...keys);
    const password = await site.ask('boss', 'PUT', '/lone/password', { password: `good password ${lone}` });
    expectInvalid(password, 'password');
    expect((await post(document('whole', { displayName: '\ud83d\udc0e' }))).status).to.equal(201);
  });

  it('returns 404 and 405 for unknown users, and for other paths and methods', async () => {
    const ghosts = ['GET', 'PUT', 'DELETE'].map((method) => `${method} /ghost`);
    for (const request of ['GET /kim/status', 'PUT /kim/password/x', ...ghosts]) {
      const [method = '', path = ''] = request.split(' ');
      const answer = await site.ask('boss', method, path, method === 'PUT' ? document('ghost') : undefined);
      expect(answer.status, request).to.equal(404);
    }
    for (const [method, path, allow, resource] of [
      ['PATCH', '/kim', 'GET, HEAD, PUT, DELETE', 'users'],
      ['DELETE', '', 'GET, HEAD, POST', 'users'],
      ['GET', '/kim/password', 'PUT', 'users/password'],
    ] as const) {
      const answer = await site.ask('boss', method, path);
      const message = `the server does not allow ${method} of resource ${resource}.iam.platform.io`;
      expect([answer.status, answer.headers['allow'], answer.json.message]).to.deep.equal([
        405,
        allow,
        message,
      ]);
    }
    expect((await site.ask('boss', 'GET', '?watch=true')).status).to.equal(405);
  });

  it('rejects dryRun and changes nothing', async () => {
    for (const [method, name, body] of [
      ['POST', '', document('dry')],
      ['PUT', '/kim', document('kim')],
      ['DELETE', '/kim', undefined],
    ] as const) {
      const answer = await site.ask('boss', method, `${name}?dryRun=All`, body);
      expect([answer.status, answer.json.reason], method).to.deep.equal([400, 'BadRequest']);
    }
    expect((await get('dry')).status).to.equal(404);
    expect((await get('kim')).status).to.equal(200);
  });

  it('returns 503 until the cache is synced', async () => {
    site.users.synced = false;
    const answer = await get('kim');
    site.users.synced = true;
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
  });

  describe('a PUT', () => {
    it('replaces the spec, and keeps labels that the body omits', async () => {
      await post(document('upd', { email: 'a@b.c' }, { labels: { a: 'b' } }));
      const answer = await put('upd', document('upd', { displayName: 'U' }));
      expect(answer.status).to.equal(200);
      expect(answer.json.spec).to.deep.equal({ displayName: 'U' });
      expect(answer.json.metadata?.['labels']).to.deep.equal({ a: 'b' });
      expect((await put('upd', document('renamed'))).status).to.equal(400);
    });

    it('accepts what was read, and returns 409 after another write', async () => {
      const { json } = await post(document('cas'));
      expect((await put('cas', json)).status).to.equal(200);
      for (const stale of [json, document('cas', {}, { uid: 'another' })]) {
        const answer = await put('cas', stale);
        expect([answer.status, answer.json.reason]).to.deep.equal([409, 'Conflict']);
      }
    });

    it('accepts every field of a GET, but no other value of a read-only field', async () => {
      const metadata = {
        name: 'kept',
        finalizers: ['example.com/f'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
        creationTimestamp: '2026-01-02T03:04:05Z',
      };
      await site.users.create({ metadata, spec: {}, status: { lastLoginTime: '2026-01-02T03:05:00Z' } });
      expect((await put('kept', (await get('kept')).json)).status).to.equal(200);
      const others = { finalizers: [], ownerReferences: [], creationTimestamp: '2026-01-02T03:04:06Z' };
      const answer = await put('kept', document('kept', {}, others));
      expectInvalid(answer, ...Object.keys(others).map((field) => `metadata.${field}`));
      expect(answer.json.message).to.include('metadata.finalizers: field is immutable');
      const unknown = await put('kept', document('kept', {}, { managedFields: [] }));
      expectInvalid(unknown, 'metadata.managedFields');
    });

    it('that disables a user deletes its sessions only', async () => {
      await post(document('off'));
      await site.signIn('off', 'on');
      await put('off', document('off', { email: 'x@y.z' }));
      expect(site.sessions.ofUser('off')).to.have.length(2);
      await put('off', document('off', { disabled: true }));
      expect(site.sessions.ofUser('off')).to.have.length(0);
      expect(site.sessions.ofUser('on')).to.have.length(2);
      expect(site.warnings).to.deep.equal([]);
    });

    it('logs once when sessions cannot be deleted', async () => {
      await post(document('stuck'));
      await site.signIn('stuck');
      let deletions = 0;
      const err = newServiceUnavailable('kube-apiserver is unreachable');
      site.sessions.beforeWrite = () => {
        if (++deletions === 2) throw err;
      };
      expect((await put('stuck', document('stuck', { disabled: true }))).status).to.equal(200);
      site.sessions.beforeWrite = () => undefined;
      expect(site.sessions.ofUser('stuck')).to.have.length(1);
      expect(site.warnings.splice(0)).to.deep.equal([{ user: 'stuck', sessions: 1, err }]);
    });
  });

  it('deletes a user and its sessions', async () => {
    const made = await post(document('gone'));
    await site.signIn('gone');
    const answer = await site.ask('boss', 'DELETE', '/gone');
    expect(answer.status).to.equal(200);
    expect(answer.json).to.include({ kind: 'Status', message: 'success' });
    expect(answer.json.details).to.include({ uid: made.json.metadata?.['uid'] });
    expect(site.users.get('gone')).to.equal(undefined);
    expect(site.sessions.ofUser('gone')).to.have.length(0);
  });

  describe('groups', () => {
    it('require permission to impersonate them, and the response names every denied group', async () => {
      site.allow('helper', 'impersonate groups/dev');
      const escalating = document('esc', { groups: ['dev', 'ops', 'platform-admins'] });
      const answer = await site.ask('helper', 'POST', '', escalating);
      expect([answer.status, answer.json.reason]).to.deep.equal([403, 'Forbidden']);
      expect(answer.json.message).to.include(
        'granting or removing the groups "ops", "platform-admins" requires permission to impersonate them',
      );
      expect(site.users.get('esc')).to.equal(undefined);
      const made = await site.ask('helper', 'POST', '', document('esc', { groups: ['dev'] }));
      expect(made.status).to.equal(201);
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

  it('requires permission to impersonate all users for a verified address, but not to keep or remove it', async () => {
    const spec = { email: 'kim@example.com', verifiedEmail: 'kim@example.com' };
    site.allow('helper', 'impersonate users/verified');
    const denied = await site.ask('helper', 'POST', '', document('verified', spec));
    expect([denied.status, denied.json.reason]).to.deep.equal([403, 'Forbidden']);
    expect(denied.json.message).to.include(
      'setting verifiedEmail requires permission to impersonate all users',
    );
    site.allow('boss', 'impersonate users/');
    expect((await site.ask('boss', 'POST', '', document('verified', spec))).status).to.equal(201);
    expect(site.users.get('verified')).to.include({ emailVerified: true });
    const update = (verifiedEmail?: string) =>
      site.ask(
        'helper',
        'PUT',
        '/verified',
        document('verified', { email: 'ceo@example.com', verifiedEmail }),
      );
    expect((await update('ceo@example.com')).status).to.equal(403);
    for (const verifiedEmail of ['kim@example.com', undefined]) {
      expect((await update(verifiedEmail)).status).to.equal(200);
      expect(site.users.get('verified')).to.not.have.property('emailVerified');
    }
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
    for (const [name, spec] of Object.entries(people)) {
      // `amy` and `cat` were created first, at the same time.
      const day = spec === people.amy || spec === people.cat ? 1 : spec === people.zoe ? 2 : 3;
      const creationTimestamp = `2026-01-0${day}T00:00:00Z`;
      await site.users.create({ metadata: { name, creationTimestamp }, spec });
    }
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
      ['?limit=-1', 'amy bob cat zoe of 4'],
      ['?limit=0', ' of 4'],
      ['?ascending=false', 'zoe cat bob amy of 4'],
      ['?sortBy=createTime&ascending=true&limit=3&page=1', 'amy cat zoe of 4'],
      ['?sortBy=createTime', 'bob zoe cat amy of 4'],
    ] as const) {
      expect(await names(query), query).to.equal(expected);
    }
    const invalid = [
      'limit=-2',
      'limit=1001',
      'sortBy=updateTime',
      'ascending=no',
      'limit=x',
      'page=0',
      'disabled=no',
      'labelSelector=a',
    ];
    for (const query of [...invalid, 'name=a&name=b']) {
      const answer = await site.ask('boss', 'GET', `?${query}`);
      expect([answer.status, answer.json.reason], query).to.deep.equal([400, 'BadRequest']);
    }
  });

  it('yields to the event loop while it filters, sorts and encodes many users', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `user-${(n * 7919) % 3_000}`);
    for (const name of many) await site.users.create({ metadata: { name }, spec: {} });
    let rounds = 0;
    let isDone = false;
    const count = (): void => {
      rounds++;
      if (!isDone) setImmediate(count);
    };
    count();
    const { json } = await site.ask('boss', 'GET', '?name=user-');
    isDone = true;
    expect(json.totalItems).to.equal(3_000);
    expect(json.items?.map(({ metadata }) => metadata.name)).to.deep.equal(many.toSorted());
    expect(rounds).to.be.above(80);
  });
});

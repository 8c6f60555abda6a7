// Tests of impersonation at the gateway with edge cases: empty names, control characters, text that is not ASCII, more
// than 100 groups. The end-to-end tests of the gateway have the common cases.
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { UserInfo } from '../../../../server/authentication/user.ts';
import type { Attributes, Authorizer } from '../../../../server/authorization/authorizer.ts';
import { impersonatedUser, impersonationHeaders } from '../../../../server/gateway/impersonation.ts';
import { rejection } from '../../../support/rejection.ts';

const ALICE: UserInfo = { name: 'alice', uid: '', groups: ['dev'], extra: {} };
const CONTEXT = { signal: new AbortController().signal };

function headersOf(user: Partial<UserInfo>): string[] {
  return impersonationHeaders({ ...ALICE, ...user }, 'token');
}

function codeOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error.code;
    throw error;
  }
  throw new Error('did not throw');
}

function requestWith(headers: readonly (readonly [string, string])[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  for (const [name, value] of headers)
    request.headersDistinct[name] = [...(request.headersDistinct[name] ?? []), value];
  return request;
}

describe('the identity headers of an impersonated caller', () => {
  it('contain the name in UTF-8, uid, groups and extra fields', () => {
    const extra = { 'example.com/team': ['blue', 'red'] };
    expect(headersOf({ name: 'zoë', uid: '7', groups: ['dev', 'test'], extra })).to.deep.equal([
      ...['Authorization', 'Bearer token'],
      ...['Impersonate-User', Buffer.from('zoë').toString('latin1')],
      ...['Impersonate-Uid', '7'],
      ...['Impersonate-Group', 'dev'],
      ...['Impersonate-Group', 'test'],
      ...['Impersonate-Extra-example.com%2Fteam', 'blue'],
      ...['Impersonate-Extra-example.com%2Fteam', 'red'],
    ]);
  });

  it('are never made for an empty user, who would be the impersonator: 401', () => {
    expect(codeOf(() => headersOf({ name: '' }))).to.equal(401);
    expect(codeOf(() => headersOf({ groups: ['dev', 'system:masters'] }))).to.equal(403);
  });

  it('cannot contain further headers: 401 for control characters', () => {
    for (const evil of ['a\r\nImpersonate-Group: system:masters', 'a\nb', 'a\u0000', 'a\u007f', '\u0001']) {
      for (const user of [{ name: evil }, { uid: evil }, { groups: [evil] }, { extra: { k: [evil] } }]) {
        expect(
          codeOf(() => headersOf(user)),
          JSON.stringify(user),
        ).to.equal(401);
      }
    }
  });

  it('arrive unchanged, or are rejected with 401', () => {
    const spaces = [
      ' ',
      '\t',
      '\u0085',
      '\u00a0',
      '\u1680',
      '\u2003',
      '\u2028',
      '\u202f',
      '\u3000',
      '\ufeff',
    ];
    const changed = [
      ...spaces.flatMap((space) => [`${space}system:masters`, `system:masters${space}`, space]),
      ...['', '\ud800', 'a\udc00b', 'a\ufffd'],
    ];
    for (const text of changed) {
      const users = [{ name: text }, { groups: ['dev', text] }, { extra: { k: [text] } }];
      for (const user of text === '' ? users : [...users, { uid: text }]) {
        expect(
          codeOf(() => headersOf(user)),
          JSON.stringify(user),
        ).to.equal(401);
      }
    }
    for (const key of ['', '\ud800', 'a\ufffd']) {
      expect(
        codeOf(() => headersOf({ extra: { [key]: ['x'] } })),
        key,
      ).to.equal(401);
    }
    for (const text of ['a b', 'a,b', 'jürgen 名', '\u200b', 'a\u00a0b', '"a"', '%20', '😀']) {
      const [, , , name = ''] = headersOf({ name: text });
      expect(Buffer.from(name, 'latin1').toString('utf8')).to.equal(text);
    }
  });

  it('escape upper case in keys, which kube-apiserver changes', () => {
    const names = headersOf({ extra: { 'Example.com/ABC': ['x'] } });
    expect(names).to.include('Impersonate-Extra-%45xample.com%2F%41%42%43');
  });

  it('escape all characters of keys that a header name cannot contain', () => {
    const key = 'a b/ä(c)%:\r\n';
    const name =
      headersOf({ extra: { [key]: ['x'] } }).find((text) => text.startsWith('Impersonate-Extra-')) ?? '';
    expect(name).to.match(/^Impersonate-Extra-[!#$%&'*+.^_`|~\w-]+$/);
    expect(decodeURIComponent(name.slice('Impersonate-Extra-'.length))).to.equal(key);
  });
});

describe('the impersonation that a caller requests', () => {
  function reviewing(allowed: (attributes: Attributes) => boolean): Authorizer & { reviews: Attributes[] } {
    const reviews: Attributes[] = [];
    return {
      reviews,
      authorize: (attributes) => {
        reviews.push(attributes);
        return { allowed: allowed(attributes), reason: '' };
      },
    };
  }

  it('has one review for each part, by the caller', async () => {
    const authorizer = reviewing(() => true);
    const core = { group: '', version: '', subresource: '', namespace: '' };
    const authentication = { ...core, group: 'authentication.k8s.io', version: 'v1' };
    expect(await impersonatedUser(ALICE, requestWith([]), authorizer, CONTEXT)).to.equal(ALICE);
    const request = requestWith([
      ['impersonate-user', 'system:serviceaccount:shop:cart'],
      ['impersonate-uid', '7'],
      ['impersonate-group', Buffer.from('zoë').toString('latin1')],
      ['impersonate-extra-example.com%2fteam', Buffer.from('zoë').toString('latin1')],
    ]);
    expect(await impersonatedUser(ALICE, request, authorizer, CONTEXT)).to.deep.equal({
      name: 'system:serviceaccount:shop:cart',
      uid: '7',
      groups: ['zoë'],
      extra: { 'example.com/team': ['zoë'] },
    });
    expect(authorizer.reviews.map((review) => ({ ...review, user: review.user.name }))).to.deep.equal(
      [
        { ...core, resource: 'serviceaccounts', namespace: 'shop', name: 'cart' },
        { ...core, resource: 'groups', name: 'zoë' },
        { ...authentication, resource: 'userextras', subresource: 'example.com/team', name: 'zoë' },
        { ...authentication, resource: 'uids', name: '7' },
      ].map((review) => ({ verb: 'impersonate', user: 'alice', ...review })),
    );
  });

  it('is rejected before any review if it has more than 100 parts', async () => {
    const authorizer = reviewing(() => true);
    const groups = Array.from({ length: 101 }, (_, index) => ['impersonate-group', `g${index}`] as const);
    const request = requestWith([['impersonate-user', 'bob'], ...groups]);
    expect(await rejection(impersonatedUser(ALICE, request, authorizer, CONTEXT))).to.include({ code: 400 });
    expect(authorizer.reviews).to.deep.equal([]);
  });
});

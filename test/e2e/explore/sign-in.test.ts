// Tests of sign-in and sign-out at the page `/explore`, in a browser: with tokens that expire, and in several tabs.
import { expect } from 'chai';
import { submitForm } from '../../support/submit-form.ts';
import { PASSWORD } from '../platform.ts';
import { sharedExplore, USERS } from './shared-explore.ts';
import type { Visitor } from './visitor.ts';

describe('the sign-in of /explore', () => {
  let shared: Awaited<ReturnType<typeof sharedExplore>>;
  let visitor: Visitor;

  before(async () => {
    shared = await sharedExplore();
  });
  beforeEach(async () => {
    visitor = await shared.visitor();
  });
  afterEach(async () => {
    await visitor[Symbol.asyncDispose]();
    expect(visitor.complaints).to.deep.equal([]);
  });

  it('leads to the view that was opened, with its query, and leaves no code in the address or the history', async () => {
    const path = '/explore/logs?namespace=shop&last=15m';
    await visitor.signIn(USERS.viewer, path);
    const { pathname, search } = new URL(visitor.page.url());
    expect(pathname + search).to.equal(path);
    expect(await visitor.text('header')).to.contain(USERS.viewer);
    await visitor.page.goBack();
    expect(visitor.page.url()).to.not.match(/code=|state=/);
  });

  it('starts at the address of the server, and rejects a wrong password', async () => {
    await visitor.open('/');
    await visitor.page.waitForSelector('#password');
    await submitForm(visitor.page, { username: USERS.viewer, password: 'wrong' });
    expect(await visitor.page.title()).to.contain('Error');
    await submitForm(visitor.page, { password: PASSWORD });
    expect(await visitor.heading()).to.not.equal('');
    expect(visitor.page.url()).to.match(/\/explore$/);
    // The response to the wrong password.
    visitor.complaints.splice(0, 1);
  });

  it('is not needed in another tab, and ends in all tabs', async () => {
    await visitor.signIn(USERS.viewer);
    const other = await visitor.tab();
    await visitor.open('/explore/logs', other);
    await visitor.heading(other);
    await visitor.page.bringToFront();
    await visitor.click(USERS.viewer);
    await visitor.click('Sign out');
    await visitor.sees('You are signed out');
    await visitor.sees('You are signed out', other);
    expect(await visitor.page.evaluate('localStorage.length')).to.equal(0);
    await visitor.click('Sign in');
    await visitor.page.waitForSelector('#password');
  });

  it('cannot be completed by the response to a request of another page', async () => {
    await visitor.open('/explore/callback?code=stolen&state=unknown&iss=https%3A%2F%2Fexample.com');
    await visitor.sees('You are not signed in');
    expect(visitor.page.url()).to.match(/\/explore\/callback$/);
    expect(await visitor.page.evaluate('localStorage.length')).to.equal(0);
  });
});

// Tests of the files for browsers: which exist, their headers, and that no other file can be requested.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { isPublicPath } from '../../../../server/authorization/public-paths.ts';
import { exploreRouter } from '../../../../server/explore/explore.ts';
import { HandlerServer, servedHandler } from '../../../support/handler-server.ts';
import { routed } from '../../../support/routed.ts';

describe('the files for browsers', () => {
  const server = servedHandler(routed(exploreRouter({ platform: 'platform', signIn: true })));
  const page = async (path = '/explore') => {
    const { status, headers, body } = await server.ask(path);
    return { status, headers, html: body.toString() };
  };
  /** Path of the folder of the files, which contains their digest. */
  const base = async () =>
    /"(\/explore\/assets\/[0-9a-f]{16}\/)explore\/main\.js"/.exec((await page()).html)?.[1] ?? '';

  it('have a page for every address of a view', async () => {
    const { html } = await page();
    const views = ['/explore/', '/explore/lists/pods', '/explore/objects/pods/shop/cart-0', '/explore/logs'];
    for (const path of views) {
      expect(await page(path)).to.deep.include({ status: 200, html });
      expect(isPublicPath(path), path).to.equal(true);
    }
  });

  it('tell the page whether users can sign in, under an entity tag of its own', async () => {
    const router = exploreRouter({ platform: 'platform', signIn: false });
    await using without = await new HandlerServer(routed(router)).start();
    const { headers, html } = await page();
    expect(html).to.contain('<meta name="sign-in" content="oauth">');
    const other = await without.ask('/explore', { headers: { 'If-None-Match': String(headers.etag) } });
    expect(other.status).to.equal(200);
    expect(other.body.toString()).to.contain('<meta name="sign-in" content="none">');
  });

  it('have a strict policy: the only inline script is the import map', async () => {
    const { headers, html } = await page();
    const policy = String(headers['content-security-policy']);
    expect(policy).to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'");
    expect(policy).to.contain("require-trusted-types-for 'script'").and.to.not.contain('unsafe');
    expect(html.match(/<script(?![^>]* src=)/g)).to.have.length(1);
    expect(html).to.not.match(/<style| style=| on\w+=/);
    expect(headers).to.deep.include({ 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer' });
  });

  it('have a page that the renewal of tokens embeds, only from the same origin', async () => {
    const { headers, html } = await page('/explore/callback');
    expect(headers['content-security-policy']).to.contain("frame-ancestors 'self'");
    expect(headers['x-frame-options']).to.equal('SAMEORIGIN');
    expect(html).to.contain('explore/callback.js');
  });

  it('are scripts without types, whose imports a browser can load', async () => {
    const { status, headers, body } = await server.ask(`${await base()}explore/route.js`);
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/javascript; charset=utf-8');
    expect(body.toString()).to.contain('export function useRoute').and.to.not.contain('interface');
    const main = await server.ask(`${await base()}explore/main.js`);
    expect(main.body.toString()).to.contain("'./frame.js'");
  });

  it('are immutable under their digest, compressed, and revalidated by an entity tag', async () => {
    const { headers } = await server.ask(`${await base()}base.css`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    expect(headers['content-encoding']).to.equal('gzip');
    expect((await page()).headers['cache-control']).to.equal('no-cache');
    const again = await server.ask('/explore', {
      headers: { 'If-None-Match': String((await page()).headers.etag) },
    });
    expect([again.status, again.body.length]).to.deep.equal([304, 0]);
  });

  it('have the style of all pages before those of the views, which can change it', async () => {
    const { html } = await page();
    const [first, ...others] = [...html.matchAll(/"stylesheet" href="(.*?)"/g)].map(([, href = '']) => href);
    expect(first).to.equal(`${await base()}base.css`);
    expect(others).to.include(`${await base()}explore/styles/list.css`);
    const { body } = await server.ask(first ?? '');
    expect(body.toString()).to.contain('--accent: ');
  });

  it('respond to HEAD without a body, and to no other method', async () => {
    const head = await server.ask('/explore', { method: 'HEAD' });
    expect([head.status, head.body.length]).to.deep.equal([200, 0]);
    expect(Number(head.headers['content-length'])).to.be.above(100);
    expect((await server.ask('/explore', { method: 'POST' })).status).to.equal(405);
  });

  it('include no other file, and no other version', async () => {
    const folder = await base();
    for (const path of [
      `${folder}server/main.js`,
      `${folder}package.json`,
      `${folder}explore/tsconfig.json`,
      `${folder}explore/main.ts`,
      `${folder}explore/%2e%2e/server/main.ts`,
      `${folder}explore/..%2f..%2fpackage.json`,
      `${folder}__proto__`,
      `${folder}constructor`,
      folder,
      '/explore/assets/0000000000000000/explore/main.js',
      '/client/v1/../explore/main.js',
      '/client/v1/%2e%2e/explore/main.js',
      '/client/v1/nothing.js',
    ]) {
      expect((await server.ask(path)).status, path).to.be.oneOf([400, 404]);
    }
  });

  it('are loaded from the packages at the version of package.json', async () => {
    const { body } = await server.ask(`${await base()}packages/preact.js`);
    expect(body).to.deep.equal(readFileSync(new URL(import.meta.resolve('preact'))));
  });
});

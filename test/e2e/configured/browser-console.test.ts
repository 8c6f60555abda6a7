// Tests of the examples in docs/consoles.md, in a real browser. The page and ks-apiserver have different origins.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'puppeteer-core';
import { type StartedChromium, startChromium } from '../../../hack/browser/chromium.ts';
import { loadVictoriaLogs } from '../../../hack/log-stores/load-victorialogs.ts';
import type { LogStoreProcess } from '../../../hack/log-stores/log-store.ts';
import { line } from '../../support/logging/log-service.ts';
import { submitForm } from '../../support/submit-form.ts';
import { until } from '../../support/until.ts';
import type { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { type ConsoleSite, consoleExamples } from './console-site.ts';
import { addUser, sharedConfigured } from './shared-configured.ts';

/** Of the lines that the tests write. */
const NAMESPACE = 'payments';
const NODES = '/kapis/resources.platform.io/v1alpha3/nodes?limit=1';

/** A program that runs in Node without a bundler. */
const nodeProgram = (pod: string): string => `
  import { Client } from '${import.meta.resolve('../../../client/index.ts')}';
  const { SERVER: server, TOKEN: token } = process.env;
  const client = new Client({ server, token });
  for await (const { totalItems } of client.lists.live('nodes', { limit: 1 })) {
    console.log(totalItems + ' nodes');
    break;
  }
  const query = { fieldSelector: 'metadata.name=${pod}' };
  for await (const { type, object } of client.kubernetes.watch('/api/v1/namespaces/shop/pods', { query })) {
    console.log(type + ' ' + object.metadata.name);
    break;
  }
  for await (const line of client.kubernetes.lines('/api/v1/namespaces/shop/pods/${pod}/log')) {
    console.log(line.slice(0, 6));
    break;
  }
  const shell = await client.kubernetes.exec('shop', '${pod}', {
    command: ['sh', '-c', 'read line; echo $line; read line'],
    // KWOK drops output that it has not sent when the program ends.
    onOutput: (data) => process.stdout.write(data, () => shell.write('end\\n')),
  });
  shell.write('hello\\n');
  console.log('exit code ' + (await shell.ended).exitCode);
`;

describe('a console in a browser, from another origin', () => {
  let site: ConsoleSite;
  let store: LogStoreProcess;
  let gateway: GatewayPlatform;
  let platform: Platform;
  let chromium: StartedChromium;
  let page: Page;
  const executed = new Set<string>();

  before(async () => {
    ({ gateway, store, site } = await sharedConfigured());
    ({ platform } = gateway);
    await platform.bind('cluster-admin', '--user=alice');
    await platform.permitted('* * --as=alice');
    await addUser(platform, 'alice');
    await write('slow', new Date(Date.now() - 600_000));
    chromium = await startChromium();
    page = await newPage();
  });

  after(() => chromium?.[Symbol.asyncDispose]());

  async function newPage(at = site.origin): Promise<Page> {
    const opened = await chromium.browser.newPage();
    opened.setDefaultTimeout(60_000);
    await opened.goto(at);
    await opened.waitForFunction('globalThis.run');
    return opened;
  }

  /** Evaluates an expression in a page and awaits its promise. */
  const inPage = (expression: string, where = page): Promise<unknown> => where.evaluate(expression);
  const shown = (): Promise<unknown> => inPage('shown');

  /** Runs an example to its end. Resolves with what it has shown. */
  async function run(name: string): Promise<unknown> {
    executed.add(name);
    return await inPage(
      `(async () => { shown.length = 0; await run(${JSON.stringify(name)}); return shown; })()`,
    );
  }

  /** Starts an example that runs until `stop`. */
  async function start(name: string): Promise<void> {
    executed.add(name);
    await inPage(`(() => {
      shown.length = 0;
      globalThis.abort = new AbortController();
      globalThis.ended = run(${JSON.stringify(name)}, abort.signal);
      ended.catch((error) => shown.push([String(error)]));
    })()`);
  }
  const stop = (): Promise<unknown> => inPage('abort.abort(), ended.then(() => "ended")');

  const write = (log: string, time = new Date()): Promise<unknown> =>
    loadVictoriaLogs(store.url, [
      line(time.toISOString().replace('Z', '000000Z'), log, { namespace: NAMESPACE }),
    ]);

  it('signs a user in', async () => {
    await Promise.all([page.waitForNavigation(), inPage(`void run('Sign-in')`)]);
    await submitForm(page, { username: 'alice', password: PASSWORD });
    expect(new URL(page.url()).origin).to.equal(site.origin);
    await page.waitForFunction('globalThis.run');
    expect(await run('Sign-in')).to.deep.equal([['alice']]);
    expect(page.url()).to.equal(`${site.origin}/`);
    expect(await run('Sign-in')).to.deep.equal([['alice']]);
  });

  it('stays signed in when many pages refresh at once', async () => {
    const other = await newPage();
    const token = `session.token().then((rejected) => session.token({ rejected }))`;
    const before = await inPage('session.token()');
    const [mine, theirs] = await Promise.all([inPage(token), inPage(token, other)]);
    expect(mine).to.be.a('string').that.does.not.equal(before);
    expect(theirs).to.be.a('string').that.does.not.equal(before);
    expect(await inPage(`client.kubernetes.get('/oauth/userinfo')`)).to.include({ sub: 'alice' });
    await other.close();
  });

  it('reads errors, and the headers of responses', async () => {
    for (const [path, code, words] of [
      ['/kapis/resources.platform.io/v1alpha3/nodes?nmae=x', 400, 'did you mean "name"?'],
      ['/kapis/resources.platform.io/v1alpha3/nodes//', 400, 'the path has an empty segment'],
      ['/kapis/resources.platform.io/v1alpha3/nodes/none', 404, 'not found'],
      ['/kapis/logging.platform.io/v1alpha2/namespaces/shop', 410, 'use GET /kapis/logging'],
    ] as const) {
      const refused = `client.kubernetes.get('${path}').catch(({ name, code, message }) => ({ name, code, message }))`;
      const error = await inPage(refused);
      expect(error, path).to.include({ name: 'StatusError', code });
      expect(error).to.have.property('message').that.includes(words);
    }
    const unchanged = await inPage(`(async () => {
      const headers = { Authorization: 'Bearer ' + await session.token() };
      const first = await fetch(server + '${NODES}', { headers });
      const etag = first.headers.get('ETag');
      return (await fetch(server + '${NODES}', { headers: { ...headers, 'If-None-Match': etag } })).status;
    })()`);
    expect(unchanged).to.equal(304);
  });

  it('shows a list and counts', async () => {
    const [[names, total, status]] = (await run('Lists')) as [[string[], number, object]];
    expect(names).to.include(gateway.pod.name).and.have.length(total);
    expect(status).to.deep.equal({ Running: total });
  });

  it('shows a list again when it changes, also after the server restarts', async () => {
    await start('Live lists');
    const shows = (total: number): Promise<void> =>
      until(async () => String(await inPage('shown.at(-1)')) === String(total));
    await shows(0);
    await platform.succeeding('create configmap cart --namespace=shop');
    await shows(1);
    await platform.restartServer('SIGTERM');
    await platform.succeeding('create configmap cart-settings --namespace=shop');
    await shows(2);
    const totals = await inPage(`shown.flat().filter((value) => typeof value === 'number')`);
    expect(totals).to.deep.equal([0, 1, 2]);
    expect(await inPage(`shown.flat().filter(({ state }) => state).at(-1)`)).to.deep.equal({ state: 'open' });
    expect(await stop()).to.equal('ended');
  });

  it('searches', async () => {
    const groups = new Map((await run('Search')) as [string, string[]][]);
    expect(groups.get('configmaps')).to.include('cart');
    expect(groups.get('pods')).to.include(gateway.pod.name);
  });

  it('shows a line once that is written while the server restarts', async () => {
    await start('Live tails');
    const lines = (): Promise<unknown> => inPage('shown.map((values) => values[2] ?? values[0])');
    await write('before');
    await until(async () => String(await lines()).includes('before'));
    const back = platform.restartServer('SIGTERM');
    await write('meanwhile');
    await back;
    await until(async () => String(await lines()).includes('meanwhile'));
    await write('after');
    await until(async () => String(await lines()).includes('after'));
    expect(await lines()).to.deep.equal(['before', 'meanwhile', 'after']);
    expect(await stop()).to.equal('ended');
  });

  it('queries lines and a histogram', async () => {
    const [[records, cursor, buckets]] = (await run('Log queries')) as [
      [{ log: string }[], string | undefined, { count: number }[]],
    ];
    expect(records.map(({ log }) => log)).to.deep.equal(['slow']);
    expect(cursor ?? undefined).to.equal(undefined);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).to.equal(1);
  });

  it('exports lines under the file name of the server', async () => {
    await run('Exports');
    const [name, text, outcome] = (await inPage(
      `(async () => { const [[name, data, complete]] = shown; return [name, await data.text(), await complete]; })()`,
    )) as [string, string, unknown];
    expect(name).to.match(/^logs-\d{8}T\d{6}Z\.csv$/);
    expect(text).to.match(/^time,namespace,pod,container,log\r\n(.*\r\n)*.*,slow\r\n/);
    expect(outcome).to.equal(true);
  });

  it('changes an object through the gateway, and reads the result, warnings and errors', async () => {
    const path = '/api/v1/namespaces/shop/configmaps/settings';
    await platform.succeeding('create configmap settings --namespace=shop');
    const [[colour, yaml]] = (await run('Objects')) as [[string, string]];
    expect(colour).to.equal('blue');
    expect(yaml).to.match(/^apiVersion: v1\ndata:\n {2}colour: blue\n/);
    const stale = `client.kubernetes.replace('${path}', { metadata: { name: 'settings', resourceVersion: '1' } })`;
    expect(await inPage(`${stale}.catch(({ code, reason }) => [code, reason])`)).to.deep.equal([
      409,
      'Conflict',
    ]);
    const warned = await inPage(`(async () => {
      const { Client } = await import(server + '/client/v1/index.js');
      const warnings = [];
      const { kubernetes } = new Client({ server, token: session, onWarning: (text) => warnings.push(text) });
      await kubernetes.patch('${path}', { datum: {} }, { query: { fieldValidation: 'Warn' } });
      return warnings;
    })()`);
    expect(warned).to.deep.equal(['unknown field "datum"']);
    const missing = `client.kubernetes.delete('${path}s').catch(({ message }) => message)`;
    expect(await inPage(missing)).to.equal('configmaps "settingss" not found');
  });

  it('watches objects', async () => {
    await start('Watches');
    const events = async (): Promise<string> => JSON.stringify(await shown());
    await until(async () => (await events()).includes('["ADDED","settings"]'));
    await platform.succeeding('delete configmap settings --namespace=shop');
    await until(async () => (await events()).includes('["DELETED","settings"]'));
    expect(await stop()).to.equal('ended');
  });

  it('follows the log of a pod', async () => {
    await start('Log of a pod');
    // The last line of the simulated log.
    await until(async () => String(await shown()).includes('"n":399'));
    expect(await stop()).to.equal('ended');
    await gateway.settled();
  });

  it('opens a shell in a pod', async () => {
    const result = (await run('Shells')) as unknown[][];
    expect(result.at(-1)).to.deep.equal([0]);
    await inPage(`(async () => {
      globalThis.screen = '';
      const decoder = new TextDecoder();
      const onOutput = (bytes) => { globalThis.screen += decoder.decode(bytes, { stream: true }); };
      globalThis.shell = await client.kubernetes.exec('shop', '${gateway.pod.name}', { command: ['sh'], tty: true, onOutput });
      shell.resize(77, 33);
      shell.write('until stty size | grep "33 77"; do sleep 0.1; done; echo $((6 * 7))\\n');
    })()`);
    await until(async () => String(await inPage('screen')).includes('33 77\r\n42\r\n'));
    // After the output, because KWOK drops output that it has not sent when the program ends.
    expect(await inPage(`(() => { shell.write('exit\\n'); return shell.ended; })()`)).to.include({
      exitCode: 0,
    });
    const accessToken = String(await inPage('session.token()'));
    expect(await gateway.serverLog()).not.to.include(Buffer.from(accessToken).toString('base64url'));
    const rejected = `client.kubernetes.exec('shop', 'nobody', { command: ['sh'] }).catch(({ message }) => message)`;
    expect(await inPage(rejected)).to.equal('pods "nobody" not found');
  });

  it('has a library that also runs in Node', async () => {
    const script = await platform.write('program.ts', nodeProgram(gateway.pod.name));
    const token = String(await inPage('session.token()'));
    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: await platform.write('ca.crt', platform.controlPlane.ca),
      SERVER: platform.server.url,
      TOKEN: token,
    };
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env, timeout: 60_000 });
    expect(stdout.trim().split('\n')).to.deep.equal([
      '2 nodes',
      `ADDED ${gateway.pod.name}`,
      '{"leve',
      'hello',
      'exit code 0',
    ]);
  });

  it('cannot read responses if its origin is not allowed', async () => {
    const stranger = await newPage(site.origin.replace('127.0.0.1', 'localhost'));
    const fetchVersion = `fetch(server + '/version').then(({ status }) => status, (error) => error.name)`;
    expect(await inPage(fetchVersion, stranger)).to.equal('TypeError');
    expect(await inPage(fetchVersion)).to.equal(200);
    await stranger.close();
  });

  it('has executed all examples of the document', async () => {
    expect([...executed].sort()).to.deep.equal([...(await consoleExamples()).keys()].sort());
  });
});

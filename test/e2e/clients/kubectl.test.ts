// Tests of kubectl commands against the nodes of ks-apiserver. The output must equal the output for the core nodes.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { NODES, type Platform, RESOURCE } from '../platform.ts';
import { sharedPlatform } from '../shared-platform.ts';

describe('kubectl through the aggregation layer', () => {
  let platform: Platform;

  before(async () => {
    platform = await sharedPlatform();
  });

  /** Runs the same command on core nodes and on ours. */
  async function both(...args: string[]): Promise<{ core: string; ours: string }> {
    const [core, ours] = await Promise.all(
      ['nodes', RESOURCE].map((resource) => platform.succeeding('get', resource, ...args)),
    );
    return { core: core ?? '', ours: ours ?? '' };
  }

  describe('get', () => {
    for (const args of [[], ['-o', 'wide', '--show-labels']]) {
      it(`prints the table of the core nodes: ${['get', ...args].join(' ')}`, async () => {
        const { core, ours } = await both(...args);
        const [ageless, expected] = [ours, core].map((text) => withoutAge(text));
        expect(ageless).to.deep.equal(expected);
        expect(ageless).to.have.lengthOf(NODES + 1);
      });
    }

    it('returns the same objects as YAML, in our group', async () => {
      const { core, ours } = await both('-o', 'yaml');
      expect(ours.replaceAll('resources.platform.io/v1alpha3', 'v1')).to.equal(core).and.not.to.equal(ours);
    });

    it('leaves the short name to the core nodes', async () => {
      expect(await platform.succeeding('get no node-00001 -o name')).to.equal('node/node-00001\n');
      expect(await platform.succeeding('get nodes node-00001 -o name')).to.equal('node/node-00001\n');
    });
  });

  it('describes a node', async () => {
    const text = await platform.succeeding('describe', RESOURCE, 'node-00007');
    expect(text)
      .to.match(/^Name:\s+node-00007$/m)
      .and.to.match(/^API Version:\s+resources.platform.io\/v1alpha3$/m);
  });

  it('lists the resource and its verbs among the API resources', async () => {
    const text = await platform.succeeding(
      'api-resources --api-group=resources.platform.io -o wide --no-headers',
    );
    expect(text.trim().split(/\s+/).slice(0, 5)).to.deep.equal([
      'nodes',
      'resources.platform.io/v1alpha3',
      'false',
      'Node',
      'get,list,watch',
    ]);
  });

  // With --api-version, because kubectl reads `nodes.` as the core resource and the group as fields.
  it('explains the resource and its fields', async () => {
    await platform.described('resources.platform.io/v1alpha3');
    const ofOurs = ['--api-version', 'resources.platform.io/v1alpha3'];
    const top = await platform.succeeding('explain nodes', ...ofOurs);
    expect(top).to.match(/^GROUP:\s+resources.platform.io\nKIND:\s+Node\nVERSION:\s+v1alpha3$/m);
    for (const field of ['nodes.spec.taints', 'nodes.status.conditions.type', 'nodes.metadata.labels']) {
      const [ours, core] = await Promise.all([
        platform.succeeding('explain', field, ...ofOurs),
        platform.succeeding('explain', field),
      ]);
      expect(ours.replace(/^GROUP:.*\n/, '').replace('v1alpha3', 'v1'), field).to.equal(core);
    }
  });

  describe('watch', () => {
    it('shows a change of the core node, and its deletion', async () => {
      const watching = watchLines(platform, '-o', 'jsonpath={.type} {.object.metadata.name}{"\\n"}');
      try {
        for (let index = 0; index < NODES; index++) expect(await watching.next()).to.match(/^ADDED node-/);
        await platform.succeeding('label node node-00008 e2e=changed');
        expect(await watching.next()).to.equal('MODIFIED node-00008');
        await platform.succeeding('create -f', await nodeFile(platform, 'e2e-watched'));
        expect(await watching.next()).to.equal('ADDED e2e-watched');
        await platform.succeeding('delete node e2e-watched');
        expect(await watching.next()).to.equal('DELETED e2e-watched');
      } finally {
        await watching.stop();
      }
    });

    it('prints rows of the same columns for later events', async () => {
      const watching = watchLines(platform, 'node-00009');
      try {
        expect(await watching.next()).to.match(/^EVENT\s+NAME\s+STATUS\s+ROLES\s+AGE\s+VERSION$/);
        expect(await watching.next()).to.match(/^ADDED\s+node-00009\s+Ready\s/);
        await platform.succeeding('cordon node-00009');
        expect(await watching.next()).to.match(/^MODIFIED\s+node-00009\s+Ready,SchedulingDisabled\s/);
      } finally {
        await watching.stop();
      }
    });
  });

  it('waits for a change', async () => {
    const condition = '--for=jsonpath={.metadata.labels.awaited}=yes';
    const waiting = platform.kubectl(`wait ${condition} ${RESOURCE}/node-00011 --timeout=120s`);
    await platform.succeeding('label node node-00011 awaited=yes');
    expect((await waiting).stdout).to.equal('node.resources.platform.io/node-00011 condition met\n');
  });

  describe('forbidden operations', () => {
    it('rejects writes', async () => {
      for (const args of [
        ['delete', RESOURCE, 'node-00012'],
        ['label', RESOURCE, 'node-00012', 'a=b'],
      ]) {
        const { code, stderr } = await platform.kubectl(...args);
        expect(code, args.join(' ')).to.equal(1);
        expect(stderr).to.contain('(MethodNotAllowed)');
      }
      expect(await platform.succeeding('get node node-00012 -o name')).to.equal('node/node-00012\n');
    });

    it('rejects writes of clients that send Expect: 100-continue', async () => {
      const { url, ca, pki } = platform.controlPlane;
      const { cert, key } = pki.files.admin;
      const [certificate, privateKey] = await Promise.all([readFile(cert), readFile(key)]);
      const sent = request(new URL('/apis/resources.platform.io/v1alpha3/nodes', url), {
        method: 'POST',
        headers: { Expect: '100-continue', 'Content-Type': 'application/json', 'Content-Length': 2 },
        ca,
        cert: certificate,
        key: privateKey,
        agent: false,
      });
      sent.on('continue', () => sent.end('{}')).flushHeaders();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      expect(answer.statusCode).to.equal(405);
    });

    it('responds to a list of logs as objects with a command that works', async () => {
      for (const args of [['get'], ['get', '-o', 'yaml'], ['describe']]) {
        const { code, stderr } = await platform.kubectl(...args, 'logs.logging.platform.io');
        expect(code, args.join(' ')).to.equal(1);
        const [, path = ''] = /; use kubectl get --raw '([^']+)'\n$/.exec(stderr) ?? [];
        expect(JSON.parse(await platform.succeeding('get --raw', path)), stderr).to.have.property('query');
      }
    });

    it('forbids users without the permission to read', async () => {
      const kubeconfig = await platform.controlPlane.kubeconfigFor({ name: 'mallory' });
      const refused = await platform.kubectl(`get ${RESOURCE} --kubeconfig`, kubeconfig);
      expect(refused.code).to.equal(1);
      expect(refused.stderr).to.contain(
        'User "mallory" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
      );
    });
  });
});

/** The cells of a table without the column AGE, which may differ between two commands. */
function withoutAge(text: string): readonly (readonly string[])[] {
  const age = 3;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).toSpliced(age, 1));
}

/** Writes a manifest of a node for `kubectl create`; returns its path. */
async function nodeFile(platform: Platform, name: string): Promise<string> {
  return platform.write(
    `${name}.json`,
    JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } }),
  );
}

interface Lines {
  next(): Promise<string>;
  stop(): Promise<void>;
}

/** Lines of `kubectl get -w` with the event types. */
function watchLines(platform: Platform, ...args: string[]): Lines {
  const child: ChildProcess = platform.spawnKubectl('get', RESOURCE, '-w', '--output-watch-events', ...args);
  if (child.stdout === null) throw new Error('kubectl has no standard output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('kubectl ended');
      return value.trimEnd();
    },
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill();
      await once(child, 'exit');
    },
  };
}

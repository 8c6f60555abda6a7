// Tests of kubectl commands against the nodes of ks-apiserver. The output must equal the output for the core nodes.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { NODES, type Platform, RESOURCE } from './platform.ts';

export function describeKubectl(subject: () => Platform): void {
  describe('kubectl through the aggregation layer', () => {
    let platform: Platform;

    before(() => {
      platform = subject();
    });

    /** Runs the same command on core nodes and on ours. */
    async function both(...args: string[]): Promise<{ core: string; ours: string }> {
      const [core, ours] = await Promise.all(
        ['nodes', RESOURCE].map((resource) => platform.succeeding('get', resource, ...args)),
      );
      return { core: core ?? '', ours: ours ?? '' };
    }

    describe('get', () => {
      for (const args of [
        [],
        ['-o', 'wide'],
        ['--show-labels'],
        ['-L', 'kubernetes.io/arch'],
        ['--no-headers'],
      ]) {
        it(`prints the table of the core nodes: ${['get', ...args].join(' ')}`, async () => {
          const { core, ours } = await both(...args);
          const [ageless, expected] = [ours, core].map((text) => withoutAge(text));
          expect(ageless).to.deep.equal(expected);
          expect(ageless).to.have.lengthOf(NODES + (args.includes('--no-headers') ? 0 : 1));
        });
      }

      it('prints the age of the core node, up to the seconds in between', async () => {
        const ours = await platform.succeeding('get', RESOURCE, 'node-00001');
        expect(ours.split('\n')[1]).to.match(/\s\d+[smh]\d*s?\s/);
      });

      it('returns the same objects as JSON and as YAML, in our group', async () => {
        const { core, ours } = await both('-o', 'json');
        const [expected, found] = [core, ours].map((text) => JSON.parse(text) as { items: TypedObject[] });
        for (const item of found?.items ?? []) {
          expect(item).to.include({ apiVersion: 'resources.platform.io/v1alpha3', kind: 'Node' });
        }
        expect(found?.items.map(untyped)).to.deep.equal(expected?.items.map(untyped));
        const yaml = await both('-o', 'yaml');
        expect(yaml.ours.replaceAll('resources.platform.io/v1alpha3', 'v1')).to.equal(yaml.core);
      });

      it('returns one object as YAML', async () => {
        const { core, ours } = await both('node-00002', '-o', 'yaml');
        expect(ours).to.contain('apiVersion: resources.platform.io/v1alpha3\n');
        expect(ours.replace('resources.platform.io/v1alpha3', 'v1')).to.equal(core);
      });

      it('prints names that kubectl accepts as arguments', async () => {
        const names = (await platform.succeeding('get', RESOURCE, '-o', 'name')).trim().split('\n');
        expect(names).to.have.lengthOf(NODES);
        expect(names[0]).to.equal('node.resources.platform.io/node-00000');
        expect(await platform.succeeding('get', ...names.slice(0, 2), '-o', 'name')).to.equal(
          `${names.slice(0, 2).join('\n')}\n`,
        );
      });

      it('supports jsonpath, custom columns and --sort-by as for core nodes', async () => {
        for (const args of [
          [
            '-o',
            'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.status.nodeInfo.kubeletVersion}{"\\n"}{end}',
          ],
          [
            '-o',
            'custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu',
            '--sort-by=.status.capacity.cpu',
          ],
        ]) {
          const { core, ours } = await both(...args);
          expect(ours).to.equal(core);
          expect(ours).to.contain('node-00022');
        }
      });

      it('filters by label and by name as for core nodes', async () => {
        for (const args of [
          ['-l', 'node-role.kubernetes.io/control-plane'],
          ['-l', '!node-role.kubernetes.io/control-plane'],
          ['-l', 'kubernetes.io/hostname in (node-00003,node-00005)'],
          ['-l', 'kubernetes.io/hostname notin (node-00003),kubernetes.io/arch'],
          ['-l', 'kubernetes.io/hostname=none'],
          ['--field-selector', 'metadata.name=node-00004'],
          ['--field-selector', 'metadata.name!=node-00004'],
        ]) {
          const { core, ours } = await both('-o', 'jsonpath={.items[*].metadata.name}', ...args);
          expect(ours, args.join(' ')).to.equal(core);
        }
      });

      it('rejects an unsupported field selector with the error of kube-apiserver', async () => {
        const { code, stderr } = await platform.kubectl(
          'get',
          RESOURCE,
          '--field-selector',
          'spec.nothing=1',
        );
        expect(code).to.equal(1);
        expect(stderr).to.contain('(BadRequest)').and.to.contain('spec.nothing');
      });

      it('gets a complete list in chunks', async () => {
        const { code, stdout, stderr } = await platform.kubectl(
          'get',
          RESOURCE,
          '--chunk-size=5',
          '-o',
          'name',
          '-v=8',
        );
        expect(code).to.equal(0);
        expect(stdout.trim().split('\n')).to.have.lengthOf(NODES);
        const continued = stderr.split('\n').filter((line) => /"?GET"?.*nodes\?.*continue=/.test(line));
        expect(continued.length, 'requests with a continue token').to.be.at.least(4);
      });

      it('returns the NotFound error of kube-apiserver', async () => {
        const { code, stderr } = await platform.kubectl('get', RESOURCE, 'nobody');
        expect(code).to.equal(1);
        expect(stderr).to.equal(
          'Error from server (NotFound): nodes.resources.platform.io "nobody" not found\n',
        );
      });

      it('returns the raw list', async () => {
        const path = '/apis/resources.platform.io/v1alpha3/nodes';
        const list = JSON.parse(await platform.succeeding('get', '--raw', `${path}?limit=3`)) as RawList;
        expect(list).to.include({ apiVersion: 'resources.platform.io/v1alpha3', kind: 'NodeList' });
        expect(list.items).to.have.lengthOf(3);
        expect(list.metadata.remainingItemCount).to.equal(NODES - 3);
        const node = await platform.succeeding('get', '--raw', `${path}/node-00006`);
        expect(JSON.parse(node)).to.include({ apiVersion: 'resources.platform.io/v1alpha3', kind: 'Node' });
      });

      it('leaves the short name to the core nodes', async () => {
        expect(await platform.succeeding('get', 'no', 'node-00001', '-o', 'name')).to.equal(
          'node/node-00001\n',
        );
        expect(await platform.succeeding('get', 'nodes', 'node-00001', '-o', 'name')).to.equal(
          'node/node-00001\n',
        );
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
        'api-resources',
        '--api-group=resources.platform.io',
        '-o',
        'wide',
        '--no-headers',
      );
      expect(text.trim().split(/\s+/).slice(0, 5)).to.deep.equal([
        'nodes',
        'resources.platform.io/v1alpha3',
        'false',
        'Node',
        'get,list,watch',
      ]);
    });

    // With --api-version, because kubectl reads `nodes.` as the core resource and the group as fields (for
    // nodes.metrics.k8s.io too).
    it('explains the resource and its fields', async () => {
      await platform.described('resources.platform.io/v1alpha3');
      const ofOurs = ['--api-version', 'resources.platform.io/v1alpha3'];
      const top = await platform.succeeding('explain', 'nodes', ...ofOurs);
      expect(top).to.match(/^GROUP:\s+resources.platform.io$/m);
      expect(top).to.match(/^KIND:\s+Node$/m);
      expect(top).to.match(/^VERSION:\s+v1alpha3$/m);
      expect(top)
        .to.match(/^ {2}spec\t/m)
        .and.to.match(/^ {2}status\t/m);
      const recursive = await platform.succeeding('explain', 'nodes', '--recursive', ...ofOurs);
      expect(recursive).to.contain('unschedulable').and.to.contain('kubeletVersion');
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
          await platform.succeeding('label', 'node', 'node-00008', 'e2e=changed');
          expect(await watching.next()).to.equal('MODIFIED node-00008');
          await platform.succeeding('create', '-f', await nodeFile(platform, 'e2e-watched'));
          expect(await watching.next()).to.equal('ADDED e2e-watched');
          await platform.succeeding('delete', 'node', 'e2e-watched');
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
          await platform.succeeding('cordon', 'node-00009');
          expect(await watching.next()).to.match(/^MODIFIED\s+node-00009\s+Ready,SchedulingDisabled\s/);
        } finally {
          await watching.stop();
        }
      });
    });

    describe('wait', () => {
      it('returns at once when the condition holds', async () => {
        const text = await platform.succeeding(
          'wait',
          '--for=condition=Ready',
          `${RESOURCE}/node-00010`,
          '--timeout=10s',
        );
        expect(text).to.equal('node.resources.platform.io/node-00010 condition met\n');
      });

      it('waits for a change', async () => {
        const waiting = platform.kubectl(
          'wait',
          '--for=jsonpath={.metadata.labels.awaited}=yes',
          `${RESOURCE}/node-00011`,
          '--timeout=30s',
        );
        await platform.succeeding('label', 'node', 'node-00011', 'awaited=yes');
        expect((await waiting).stdout).to.equal('node.resources.platform.io/node-00011 condition met\n');
      });

      it('waits for the deletion', async () => {
        await platform.succeeding('create', '-f', await nodeFile(platform, 'e2e-deleted'));
        await platform.succeeding('wait', '--for=create', `${RESOURCE}/e2e-deleted`, '--timeout=30s');
        const waiting = platform.kubectl('wait', '--for=delete', `${RESOURCE}/e2e-deleted`, '--timeout=30s');
        await platform.succeeding('delete', 'node', 'e2e-deleted');
        expect((await waiting).code).to.equal(0);
      });
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
        expect(await platform.succeeding('get', 'node', 'node-00012', '-o', 'name')).to.equal(
          'node/node-00012\n',
        );
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
          expect(JSON.parse(await platform.succeeding('get', '--raw', path)), stderr).to.have.property(
            'query',
          );
        }
      });

      it('forbids users without the permission to read, and allows users with it', async () => {
        const kubeconfig = await platform.controlPlane.kubeconfigFor({ name: 'mallory' });
        const args = ['get', RESOURCE, '--kubeconfig', kubeconfig];
        const refused = await platform.kubectl(...args);
        expect(refused.code).to.equal(1);
        expect(refused.stderr).to.contain(
          'User "mallory" cannot list resource "nodes" in API group "resources.platform.io" at the cluster scope',
        );
        await platform.succeeding(
          'create',
          'clusterrole',
          'e2e-reader',
          '--verb=get,list,watch',
          `--resource=${RESOURCE}`,
        );
        await platform.succeeding(
          'create',
          'clusterrolebinding',
          'e2e-reader',
          '--clusterrole=e2e-reader',
          '--user=alice',
        );
        const alice = await platform.controlPlane.kubeconfigFor({ name: 'alice' });
        await platform.permitted('list', RESOURCE, '--as=alice');
        const allowed = await platform.succeeding('get', RESOURCE, '--kubeconfig', alice, '-o', 'name');
        expect(allowed.trim().split('\n')).to.have.lengthOf(NODES);
      });
    });
  });
}

interface TypedObject {
  readonly apiVersion: string;
  readonly kind: string;
}

interface RawList extends TypedObject {
  readonly metadata: { readonly remainingItemCount: number };
  readonly items: readonly TypedObject[];
}

function untyped({ apiVersion: _apiVersion, kind: _kind, ...rest }: TypedObject): unknown {
  return rest;
}

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

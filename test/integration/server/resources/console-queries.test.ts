// Tests of the default requests of KubeSphere consoles against a real cluster.
import { expect } from 'chai';
import { record, recordIn, text } from '../../../../apis/reading/unknown-value.ts';
import { type Caller, type Fields, LISTS, type ResourceCluster, type Server } from './resource-cluster.ts';
import { sharedCluster } from './shared-cluster.ts';

const NAMESPACE = 'console';
const TIME = '2026-01-02T03:04:05Z';

describe('queries of KubeSphere consoles', () => {
  let cluster: ResourceCluster;
  let server: Server;

  const put = async (api: string, plural: string, body: Fields, status?: Fields): Promise<void> => {
    const isNamespaced = plural !== 'persistentvolumes';
    const path = isNamespaced ? `${api}/namespaces/${NAMESPACE}/${plural}` : `${api}/${plural}`;
    await cluster.create(path, body);
    const name = text(recordIn(body, 'metadata')['name']);
    if (status) await cluster.patch(`${path}/${name}/status`, { status });
  };
  const names = async (query: string): Promise<string> => {
    const path = query.startsWith('persistentvolumes') ? query : `namespaces/${NAMESPACE}/${query}`;
    const { status, names: found, body } = await server.page(`${path}&ascending=true&limit=-1`);
    expect(status, `${query}: ${JSON.stringify(body)}`).to.equal(200);
    return found.join(' ');
  };
  const ended = (type: string, at = TIME): Fields => ({
    ...(type === 'Complete' ? { completionTime: TIME, succeeded: 1 } : {}),
    startTime: TIME,
    conditions: [type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget', type].map((each) => ({
      type: each,
      status: 'True',
      lastTransitionTime: at,
    })),
  });

  before(async () => {
    cluster = await sharedCluster();
    await cluster.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
    await cluster.create(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, {
      metadata: { name: 'default' },
    });
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'main', image: 'x' }] },
    };
    const workload = { selector: { matchLabels: { app: 'x' } }, template };
    const ready = {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    };
    const changed = (year: number): Fields => {
      const time = `${year}-01-01T00:00:00Z`;
      const condition = {
        type: 'Available',
        status: 'True',
        lastTransitionTime: TIME,
        lastUpdateTime: time,
      };
      return { ...ready, conditions: [condition] };
    };
    const deployment = (name: string, replicas: number): Fields => ({
      metadata: { name },
      spec: { ...workload, replicas },
    });
    await put('/apis/apps/v1', 'deployments', deployment('early', 1), changed(2098));
    await put('/apis/apps/v1', 'deployments', deployment('late', 1), changed(2099));
    await put('/apis/apps/v1', 'deployments', deployment('new', 2));
    await put('/apis/apps/v1', 'deployments', deployment('off', 0), { observedGeneration: 1 });

    const jobs = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } };
    await put('/apis/batch/v1', 'jobs', { metadata: { name: 'busy' }, spec: jobs });
    await put('/apis/batch/v1', 'jobs', { metadata: { name: 'done' }, spec: jobs }, ended('Complete'));
    await put(
      '/apis/batch/v1',
      'jobs',
      { metadata: { name: 'bad' }, spec: jobs },
      ended('Failed', '2099-01-01T00:00:00Z'),
    );
    const cron = { schedule: '* * * * *', jobTemplate: { spec: jobs } };
    await put('/apis/batch/v1', 'cronjobs', { metadata: { name: 'on' }, spec: cron });
    await put('/apis/batch/v1', 'cronjobs', {
      metadata: { name: 'halted' },
      spec: { ...cron, suspend: true },
    });

    const access = { accessModes: ['ReadWriteOnce'] };
    const claim = { ...access, storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } };
    for (const phase of ['Pending', 'Bound', 'Lost']) {
      const name = `c-${phase.toLowerCase()}`;
      await put('/api/v1', 'persistentvolumeclaims', { metadata: { name }, spec: claim }, { phase });
    }
    const volume = { ...access, capacity: { storage: '1Gi' }, hostPath: { path: '/tmp/x' } };
    for (const phase of ['Available', 'Bound', 'Released', 'Failed']) {
      const name = `console-${phase.toLowerCase()}`;
      const storageClassName = phase === 'Bound' ? 'console-fast' : 'console-slow';
      await put(
        '/api/v1',
        'persistentvolumes',
        { metadata: { name }, spec: { ...volume, storageClassName } },
        { phase },
      );
    }

    const pod = (name: string, labels: Fields, spec: Fields, status: Fields): Promise<void> =>
      put('/api/v1', 'pods', { metadata: { name, labels }, spec: { ...template.spec, ...spec } }, status);
    const waiting = (reason: string): Fields => ({
      phase: 'Pending',
      containerStatuses: [
        {
          name: 'main',
          image: 'x',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { waiting: { reason } },
        },
      ],
    });
    const own = { persistentVolumeClaim: { claimName: 'c-bound' } };
    const ephemeral = { ephemeral: { volumeClaimTemplate: { spec: claim } } };
    await pod(
      'p-run',
      { app: 'web' },
      { nodeName: 'n-1', volumes: [{ name: 'data', ...own }] },
      {
        phase: 'Running',
        podIP: '10.1.2.3',
        podIPs: [{ ip: '10.1.2.3' }],
      },
    );
    await pod(
      'p-wait',
      { app: 'web', tier: 'x' },
      { nodeName: 'n-2', volumes: [{ name: 'scratch', ...ephemeral }] },
      waiting('ContainerCreating'),
    );
    await pod('p-loop', { app: 'other' }, { nodeName: 'n-2' }, waiting('CrashLoopBackOff'));
    await pod('p-done', { app: 'other' }, {}, { phase: 'Succeeded' });
    await pod('p-bad', { app: 'other' }, {}, { phase: 'Failed' });
    await pod('p-big', { app: 'other' }, {}, { phase: 'Failed', reason: 'OutOfcpu' });
    await pod('p-evicted', { app: 'other' }, {}, { phase: 'Failed', reason: 'Evicted' });
    const ports = [{ port: 80 }];
    await put('/api/v1', 'services', {
      metadata: { name: 'web' },
      spec: { ports, selector: { app: 'web' } },
    });
    await put('/api/v1', 'services', { metadata: { name: 'manual' }, spec: { ports } });
    const resources = ['pods'];
    await cluster.create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      metadata: { name: 'pods-only' },
      rules: [{ apiGroups: [''], resources, verbs: ['list'] }],
    });
    await cluster.bind('pods-only', 'pods-only', NAMESPACE);
    server = await cluster.serve();
    for (const [resource, api] of [
      ['deployments', '/apis/apps/v1'],
      ['jobs', '/apis/batch/v1'],
      ['cronjobs', '/apis/batch/v1'],
      ['persistentvolumeclaims', '/api/v1'],
      ['persistentvolumes', '/api/v1'],
      ['pods', '/api/v1'],
    ] as const) {
      await server.caughtUp(resource, `${api}/${resource}`);
    }
  });

  after(() => server?.stop());

  const CASES: readonly (readonly [query: string, names: string])[] = [
    ['deployments?sortBy=updateTime&name=', 'new off early late'],
    ['deployments?sortBy=name&status=running', 'early late'],
    ['deployments?sortBy=name&status=updating', 'new'],
    ['deployments?sortBy=name&status=stopped', 'off'],
    ['deployments?sortBy=name&status=stopped,%20updating,available', 'early late new off'],
    ['jobs?sortBy=name&status=running', 'busy'],
    ['jobs?sortBy=name&status=completed', 'done'],
    ['jobs?sortBy=name&status=failed', 'bad'],
    ['cronjobs?sortBy=name&status=running', 'on'],
    ['cronjobs?sortBy=name&status=paused', 'halted'],
    ['persistentvolumeclaims?sortBy=createTime&status=bound', 'c-bound'],
    ['persistentvolumeclaims?sortBy=createTime&status=lost', 'c-lost'],
    ['persistentvolumeclaims?sortBy=createTime&status=pending', 'c-pending'],
    ['persistentvolumeclaims?sortBy=name&storageClassName=fast', 'c-bound c-lost c-pending'],
    ['persistentvolumeclaims?sortBy=name&storageClassName=slow', ''],
    ['persistentvolumes?name=console&status=available', 'console-available'],
    ['persistentvolumes?name=console&status=bound', 'console-bound'],
    ['persistentvolumes?name=console&status=released', 'console-released'],
    ['persistentvolumes?name=console&status=failed', 'console-failed'],
    ['persistentvolumes?storageClassName=console-fast', 'console-bound'],
    ['pods?sortBy=name&status=Waiting', 'p-evicted p-loop p-wait'],
    ['pods?sortBy=name&status=Running,Waiting', 'p-evicted p-loop p-run p-wait'],
    ['pods?sortBy=name&status=Running', 'p-run'],
    ['pods?sortBy=startTime&status=Error', 'p-bad p-big'],
    ['pods?sortBy=createTime&status=Error', 'p-bad p-big'],
    ['pods?sortBy=name&status=Error', ''],
    ['pods?sortBy=startTime&status=Completed', 'p-done'],
    ['pods?sortBy=name&status=Completed', ''],
    ['pods?sortBy=name&status=Failed', 'p-bad'],
    ['pods?sortBy=name&status=Succeeded', 'p-done'],
    ['pods?sortBy=name&nodeName=n-2', 'p-loop p-wait'],
    ['pods?sortBy=name&nodeName=n', ''],
    ['pods?sortBy=name&nodeName=', 'p-bad p-big p-done p-evicted p-loop p-run p-wait'],
    ['pods?sortBy=name&nodeName=n-2&status=Waiting&labelSelector=app%3Dweb', 'p-wait'],
    ['pods?sortBy=name&phase=Pending', 'p-loop p-wait'],
    ['pods?sortBy=name&podIP=10.1.2', 'p-run'],
    ['pods?sortBy=name&podIP=10.9', ''],
    ['pods?sortBy=name&pvcName=c-bound', 'p-run'],
    ['pods?sortBy=name&pvcName=p-wait-scratch', 'p-wait'],
    ['pods?sortBy=name&pvcName=c', ''],
    ['pods?sortBy=name&serviceName=web', 'p-run p-wait'],
    ['pods?sortBy=name&serviceName=web&status=Waiting', 'p-wait'],
    ['pods?sortBy=name&serviceName=manual', ''],
    ['pods?sortBy=name&serviceName=missing', ''],
    ['pods?sortBy=name&serviceName=..', ''],
  ];

  for (const [query, expected] of CASES) {
    it(`return for ${query}: ${expected || 'nothing'}`, async () => {
      expect(await names(query)).to.equal(expected);
    });
  }

  it('sort pods by startTime as by their creation', async () => {
    const pods = `namespaces/${NAMESPACE}/pods`;
    const { names: ours } = await server.page(`${pods}?sortBy=creationTimestamp`);
    expect((await server.page(`${pods}?sortBy=startTime&limit=10&page=1`)).names).to.deep.equal(ours);
  });

  it('sort workloads by updateTime as by their creation', async () => {
    for (const kind of ['statefulsets', 'daemonsets', 'cronjobs']) {
      const path = `namespaces/${NAMESPACE}/${kind}`;
      const { names: ours } = await server.page(`${path}?sortBy=creationTimestamp`);
      expect(await server.page(`${path}?sortBy=updateTime`), kind).to.include({ status: 200 });
      expect((await server.page(`${path}?sortBy=updateTime`)).names, kind).to.deep.equal(ours);
    }
  });

  it('with other parameters and words are 400', async () => {
    for (const query of [
      'pods?sortBy=updateTime',
      'pods?nodeName=a&nodeName=b',
      'pods?nodename=a',
      'pods?serviceName=web&serviceName=web',
      'configmaps?nodeName=a',
      'configmaps?serviceName=a',
      'configmaps?sortBy=startTime',
      'replicasets?sortBy=updateTime',
      'pods?sortBy=startTime&sortBy=name',
      'deployments?status=Running',
      'deployments?status=running&status=updating',
      'jobs?status=paused',
      'persistentvolumeclaims?status=available',
      'deployments?status=constructor',
    ]) {
      const { status, body } = await server.page(`namespaces/${NAMESPACE}/${query}`);
      expect([status, text(body['reason'])], query).to.deep.equal([400, 'BadRequest']);
    }
    expect((await server.page('pods?serviceName=web')).status).to.equal(400);
  });

  it('by serviceName need the permission to get the Service', async () => {
    const caller: Caller = await server.asUser('pods-only');
    const path = `${LISTS}/namespaces/${NAMESPACE}/pods`;
    expect((await caller.ask(path)).status).to.equal(200);
    const answer = await caller.ask(`${path}?serviceName=web`);
    expect(answer.status).to.equal(403);
    expect(answer.text).to.include('cannot get resource \\"services\\"');
  });

  it('read the versions of the server and of the cluster', async () => {
    const version = record(await cluster.controlPlane.client.get('/version'));
    expect(text(version['gitVersion'])).to.match(/^v1\.\d/);
    for (const caller of [server.admin, server.as({})]) {
      const { status, body } = await caller.ask('/kapis/version');
      expect(status).to.equal(200);
      expect(text(body['gitVersion'])).to.match(/^v\d/);
      expect(recordIn(body, 'kubernetes')['gitVersion']).to.equal(version['gitVersion']);
    }
  });
});

// Table of kubectl commands: each subcommand, and the flags that change its requests. differences.test.ts compares the requests
// themselves. The commands of a lane run one after the other, each lane in a namespace of its own.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Command } from './kubectl-session.ts';

export interface Lane {
  readonly name: string;
  readonly commands: readonly Command[];
}

const passing = (args: string): Command => ({ args });
const failing = (args: string): Command => ({ args, code: 1 });
const unordered = (args: string): Command => ({ args, unordered: true });

/** The echo of a line that is sent to the port. */
async function echo(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write('hello through a port\n');
  const [text] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.destroy();
  return String(text);
}

function fetched(path: string): (port: number) => Promise<string> {
  return async (port) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return `${response.status} ${await response.text()}`;
  };
}

const READS: Lane = {
  name: 'reads',
  commands: [
    passing('get pods -n shop'),
    passing('get pods,services,deployments,replicasets -n shop -o wide'),
    passing('get pods -n shop --show-managed-fields -o yaml --chunk-size=1'),
    passing('get deployment cart -n shop --subresource=scale'),
    passing('get --raw /api/v1/namespaces/shop/pods?limit=1'),
    passing('get nodes.resources.platform.io node-00000 -o json'),
    { args: 'get pods -n shop --watch', until: 'cart-' },
    failing('get pods -n shop nobody'),
    failing('get nothing'),
    passing('describe pod $POD -n shop'),
    passing('events -n shop'),
    passing('explain pods.spec.containers'),
    passing('explain pods --output=plaintext-openapiv2'),
    passing('api-resources -o wide'),
    passing('api-versions'),
    passing('version -o yaml'),
    passing('auth whoami -o yaml'),
    { args: 'auth can-i create deployments --as=nobody', code: 1 },
    unordered('auth can-i --list'),
    passing('auth whoami --as=bob --as-group=a --as-group=b --as-uid=17 --as-user-extra=scopes=read -o json'),
  ],
};

const OBJECTS: Lane = {
  name: 'objects',
  commands: [
    passing('create configmap colours --from-literal=sky=blue --from-literal=grass=green'),
    failing('create configmap colours'),
    passing('create secret generic secret --from-literal=key=value'),
    passing('create serviceaccount robot'),
    passing('create role reader --verb=get,list --resource=pods'),
    passing('create rolebinding reader --role=reader --serviceaccount=$NS:robot'),
    passing('create token robot --duration=20m'),
    passing('apply -f $DIR/settings.json --dry-run=server -o yaml'),
    { args: 'diff -f $DIR/settings.json', code: 1 },
    passing('apply -f $DIR/settings.json'),
    passing('apply -f $DIR/settings-2.json -o json'),
    passing('apply --server-side -f $DIR/owned.json'),
    failing('apply --server-side --field-manager=other -f $DIR/owned-2.json'),
    passing(
      'apply --server-side --field-manager=other -f $DIR/owned-2.json --force-conflicts -o yaml --show-managed-fields',
    ),
    passing('apply -k $DIR'),
    passing('delete -k $DIR'),
    failing('create -f $DIR/unknown-field.json'),
    passing('create -f $DIR/unknown-field.json --validate=warn'),
    passing('edit configmap colours'),
    passing('patch configmap colours --type=merge -p {"data":{"sea":null}}'),
    passing('patch configmap colours --type=json -p [{"op":"replace","path":"/data/sky","value":"grey"}]'),
    passing('label configmap colours tier=front'),
    passing('replace -f $DIR/settings.json'),
    passing('wait --for=jsonpath={.data.sky}=grey configmap/colours --timeout=60s'),
    passing('delete secret secret --cascade=foreground'),
    passing('delete role,rolebinding --all'),
  ],
};

const WORKLOADS: Lane = {
  name: 'workloads',
  commands: [
    passing('apply -f $DIR/web.json'),
    passing('wait --for=condition=Available deployment/web --timeout=60s'),
    passing('expose deployment web --port=80 --target-port=8080'),
    // Before the rollouts, because kubectl chooses the oldest pod, which a rollout deletes.
    { args: 'port-forward service/web :80', port: echo },
    passing('scale deployment web --replicas=3'),
    passing('set image deployment/web web=example.org/web:2'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('rollout restart deployment/web'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('rollout history deployment/web --revision=1'),
    passing('rollout undo deployment/web --to-revision=1'),
    passing('run once --image=example.org/once --overrides={"spec":{"nodeName":"node-00001"}}'),
    passing('wait --for=condition=Ready pod/once --timeout=60s'),
    passing('debug once --image=example.org/debug --container=debugger -- sh'),
    passing('patch pod once --subresource=status --type=merge -p {"status":{"message":"patched"}}'),
    passing('delete pod once --grace-period=1 --wait'),
    passing('delete deployment web --cascade=foreground --wait --timeout=60s'),
  ],
};

/** Without the commands that streams.ts runs with each protocol. */
const STREAMS: Lane = {
  name: 'streams',
  commands: [
    { args: 'exec -n shop -it $POD -- tty -s', terminal: true },
    { args: "exec -n shop -it $POD -- sh -c 'exit 9'", terminal: true, code: 1 },
    failing('exec -n shop $POD -c nobody -- true'),
    failing('exec -n shop $POD --as=nobody -- true'),
    failing('port-forward -n shop pod/nobody :8080'),
    { args: 'proxy --port=0', port: fetched('/api/v1/namespaces/shop/pods?limit=1') },
    passing('logs -n shop $POD --tail=3 --timestamps'),
    passing('logs -n shop deployment/cart --all-containers --limit-bytes=100 --prefix'),
    { args: 'logs -n shop -f $POD', until: '"n":399' },
    failing('logs -n shop $POD --previous'),
  ],
};

const CLUSTER: Lane = {
  name: 'cluster',
  commands: [
    passing('create -f $DIR/node.json'),
    passing('apply -f $DIR/pod-of-node.json'),
    passing('wait --for=condition=Ready pod/single --timeout=60s'),
    passing('cordon $NS'),
    passing('uncordon $NS'),
    passing('taint node $NS key=value:NoSchedule'),
    passing('drain $NS --force --ignore-daemonsets --grace-period=1 --timeout=60s'),
    passing('delete node $NS'),
  ],
};

export const LANES: readonly Lane[] = [READS, OBJECTS, WORKLOADS, STREAMS, CLUSTER];

/** Commands of a ServiceAccount that may edit objects of its namespace and read those of `shop`. */
export const ACCOUNT_LANE: Lane = {
  name: 'account',
  commands: [
    passing('auth whoami -o yaml'),
    passing('apply -f $DIR/web.json'),
    passing('patch deployment web -p {"spec":{"replicas":2}}'),
    passing('delete deployment web --cascade=foreground --timeout=60s'),
    passing('logs -n shop $POD --tail=2'),
    failing('exec -n shop $POD -- true'),
    failing('get pods --as=nobody'),
  ],
};

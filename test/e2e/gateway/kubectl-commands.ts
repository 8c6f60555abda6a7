// Table of kubectl commands. The commands of a lane run one after the other, each lane in a namespace of its own.
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
  const [text] = await once(socket, 'data');
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
    passing('get deployments -n shop -o yaml'),
    passing('get pods -A -l app.kubernetes.io/name=cart -o json'),
    passing('get pods -n shop -o jsonpath={.items[*].metadata.name}'),
    passing(
      'get pods -n shop -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName --sort-by=.metadata.name',
    ),
    passing("get pods -n shop -o 'go-template={{range .items}}{{.status.phase}} {{end}}'"),
    passing(
      "get pods -n shop -l 'app.kubernetes.io/name in (cart, catalog)' --field-selector=status.phase=Running",
    ),
    passing('get pods -n shop --show-managed-fields -o json --chunk-size=1'),
    passing('get pods -n shop --show-labels -L app.kubernetes.io/name --no-headers'),
    passing('get deployment cart -n shop --subresource=scale'),
    passing('get --raw /api/v1/namespaces/shop/pods?limit=1'),
    passing('get --raw /apis'),
    passing('get nodes.resources.platform.io node-00000 -o json'),
    passing("get nodes -l '!scratch' -o wide"),
    { args: 'get pods -n shop --watch', until: 'cart-' },
    { args: 'get pods -n shop --watch --output-watch-events -o name', until: 'cart-' },
    failing('get pods -n shop nobody'),
    failing('get nothing'),
    failing('get --raw /api/v1/nothing'),
    failing('get pods -n shop --field-selector=spec.nothing=1'),
    passing('describe pod $POD -n shop'),
    passing('describe deployment cart -n shop'),
    passing('describe node node-00000'),
    passing('describe namespace shop'),
    passing('events -n shop'),
    passing('explain pods.spec.containers'),
    passing('explain deployment.spec --recursive'),
    passing('explain nodes --api-version=resources.platform.io/v1alpha3'),
    passing('explain pods --output=plaintext-openapiv2'),
    passing('api-resources -o wide'),
    passing('api-resources --api-group=apps --verbs=list,watch --namespaced -o name'),
    passing('api-versions'),
    passing('version -o yaml'),
    passing('cluster-info'),
    passing('auth whoami -o yaml'),
    passing('auth can-i create deployments'),
    { args: 'auth can-i create deployments --as=nobody', code: 1 },
    unordered('auth can-i --list'),
    failing('get pods -n shop --as=nobody'),
    passing('auth whoami --as=bob --as-group=a --as-group=b --as-uid=17 --as-user-extra=scopes=read -o json'),
    passing('auth whoami --as=system:serviceaccount:shop:default -o json'),
    failing('top nodes'),
    failing('top pods -n shop'),
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
    passing('create quota quota --hard=pods=1000'),
    passing('create job job --image=example.org/job'),
    passing("create cronjob cron --image=example.org/job --schedule='0 * * * *'"),
    passing('create ingress web --rule=example.org/*=web:80'),
    passing('create poddisruptionbudget web --selector=app=web --min-available=1'),
    passing('get configmaps,secrets,serviceaccounts,roles,rolebindings,jobs,cronjobs,ingresses'),
    passing('describe configmap,role,rolebinding,cronjob,ingress'),
    passing('auth can-i list pods --as=system:serviceaccount:$NS:robot'),
    passing('create token robot --duration=20m'),
    passing('apply -f $DIR/settings.json --dry-run=server -o yaml'),
    passing('apply -f $DIR/settings.json --dry-run=client'),
    { args: 'diff -f $DIR/settings.json', code: 1 },
    passing('apply -f $DIR/settings.json'),
    passing('apply -f $DIR/settings.json'),
    passing('diff -f $DIR/settings.json'),
    passing('apply -f $DIR/settings-2.json -o json'),
    passing('apply view-last-applied configmap settings'),
    { args: 'apply -f -', stdin: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"input"}}' },
    passing('apply --server-side -f $DIR/owned.json'),
    failing('apply --server-side --field-manager=other -f $DIR/owned-2.json'),
    passing(
      'apply --server-side --field-manager=other -f $DIR/owned-2.json --force-conflicts -o yaml --show-managed-fields',
    ),
    passing('apply -f $DIR/pruned.json -l app=pruned --prune --prune-allowlist=core/v1/ConfigMap'),
    passing('apply -f $DIR/pruned-2.json -l app=pruned --prune --prune-allowlist=core/v1/ConfigMap'),
    passing('apply -k $DIR'),
    passing('get -k $DIR'),
    passing('delete -k $DIR'),
    failing('create -f $DIR/unknown-field.json'),
    passing('create -f $DIR/unknown-field.json --validate=warn'),
    failing('create -f $DIR/invalid.json'),
    passing('edit configmap colours'),
    passing('get configmap colours -o yaml'),
    passing('patch configmap colours -p {"data":{"sea":"blue"}}'),
    passing('patch configmap colours --type=merge -p {"data":{"sea":null}}'),
    passing('patch configmap colours --type=json -p [{"op":"replace","path":"/data/sky","value":"grey"}]'),
    failing('patch configmap colours --type=json -p [{"op":"test","path":"/data/sky","value":"red"}]'),
    passing('get configmap colours -o jsonpath={.data}'),
    passing('replace -f $DIR/settings.json'),
    passing('replace --force -f $DIR/settings.json'),
    failing('replace -f $DIR/stale.json'),
    passing('label configmap colours tier=front'),
    failing('label configmap colours tier=back'),
    passing('label configmap colours tier=back --overwrite'),
    passing('label configmap colours tier-'),
    passing('annotate configmap --all note=yes'),
    passing('auth reconcile -f $DIR/reconciled.json'),
    passing('wait --for=jsonpath={.data.sky}=grey configmap/colours --timeout=10s'),
    failing('wait --for=delete configmap/colours --timeout=1s'),
    passing('delete -f $DIR/settings.json'),
    passing('delete configmap -l app=pruned'),
    passing('delete secret secret --cascade=foreground'),
    passing('delete job job --cascade=orphan --now'),
    failing('delete configmap nobody'),
    passing('delete configmap nobody --ignore-not-found'),
    passing('delete ingress,poddisruptionbudget --all'),
  ],
};

const WORKLOADS: Lane = {
  name: 'workloads',
  commands: [
    passing('apply -f $DIR/web.json'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('wait --for=condition=Available deployment/web --timeout=60s'),
    passing('get pods -l app=web'),
    passing('scale deployment web --replicas=3'),
    passing('rollout status deployment/web'),
    failing('scale deployment web --replicas=4 --current-replicas=9'),
    passing('get deployment web --subresource=scale -o yaml'),
    passing('autoscale deployment web --min=1 --max=5 --cpu=80%'),
    passing('get horizontalpodautoscaler'),
    passing('set image deployment/web web=example.org/web:2'),
    passing('set env deployment/web COLOUR=blue'),
    passing('set env deployment/web --list'),
    passing('set resources deployment/web --requests=cpu=10m'),
    passing('set serviceaccount deployment web default'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('rollout pause deployment/web'),
    failing('rollout pause deployment/web'),
    passing('rollout resume deployment/web'),
    passing('rollout restart deployment/web'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('rollout history deployment/web --revision=1'),
    passing('rollout undo deployment/web --to-revision=1'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}'),
    passing('expose deployment web --port=80 --target-port=8080'),
    passing('set selector service web app=web'),
    passing('get service web -o yaml'),
    passing('describe service web'),
    { args: 'port-forward deployment/web :80', port: echo },
    { args: 'port-forward service/web :80', port: echo },
    passing('run once --image=example.org/once --overrides={"spec":{"nodeName":"node-00001"}}'),
    passing('wait --for=condition=Ready pod/once --timeout=60s'),
    passing('debug once --image=example.org/debug --container=debugger -- sh'),
    passing('get pod once -o jsonpath={.spec.ephemeralContainers[*].name}'),
    passing('patch pod once --subresource=status --type=merge -p {"status":{"message":"patched"}}'),
    passing('delete pod once --grace-period=1 --wait'),
    passing('delete deployment web --cascade=foreground --wait --timeout=60s'),
  ],
};

const STREAMS: Lane = {
  name: 'streams',
  commands: [
    passing("exec -n shop $POD -- sh -c 'echo out; echo error >&2'"),
    // KWOK responds with an internal error to another exit code.
    failing("exec -n shop $POD -- sh -c 'exit 7'"),
    { args: 'exec -n shop -i $POD -- head -n 2', stdin: 'line 1\nline 2\n' },
    { args: "exec -n shop -i $POD -c cart -- sh -c 'head -c 300000 | wc -c'", stdin: 'x'.repeat(300_000) },
    { args: 'exec -n shop -it $POD -- tty -s', terminal: true },
    { args: "exec -n shop -it $POD -- sh -c 'exit 9'", terminal: true, code: 1 },
    failing('exec -n shop $POD -c nobody -- true'),
    failing('exec -n shop nobody -- true'),
    failing('exec -n shop $POD --as=nobody -- true'),
    failing('attach -n shop nobody'),
    // KWOK never ends the input of a program, so that tar in the pod would wait forever: there is no copy to a pod.
    passing('cp shop/$POD:$DIR/copied.txt $DIR/back.txt'),
    passing('exec -n shop $POD -- cat $DIR/back.txt'),
    { args: 'port-forward -n shop pod/$POD :8080', port: echo },
    failing('port-forward -n shop pod/nobody :8080'),
    { args: 'proxy --port=0', port: fetched('/api/v1/namespaces/shop/pods?limit=1') },
    { args: 'proxy --port=0', port: fetched('/api/v1/namespaces/shop/pods/nobody') },
    passing('logs -n shop $POD'),
    passing('logs -n shop $POD --tail=3 --timestamps'),
    passing('logs -n shop $POD --limit-bytes=100'),
    passing('logs -n shop $POD --since=1000h --tail=5 --prefix'),
    passing('logs -n shop deployment/cart --all-containers --tail=5'),
    passing('logs -n shop -l app.kubernetes.io/name=cart --tail=5 --prefix'),
    { args: 'logs -n shop -f $POD', until: '"n":399' },
    failing('logs -n shop $POD --previous'),
    failing('logs -n shop $POD -c nobody'),
  ],
};

const CLUSTER: Lane = {
  name: 'cluster',
  commands: [
    passing('create -f $DIR/node.json'),
    passing('apply -f $DIR/pod-of-node.json'),
    passing('wait --for=condition=Ready pod/single --timeout=60s'),
    passing('cordon $NS'),
    passing('get node $NS'),
    passing('uncordon $NS'),
    passing('taint node $NS key=value:NoSchedule'),
    failing('taint node $NS key=other:NoSchedule'),
    passing('taint node $NS key-'),
    passing('label node $NS zone=a'),
    failing('drain $NS'),
    passing('drain $NS --force --ignore-daemonsets --grace-period=1 --timeout=60s'),
    passing('delete node $NS'),
    passing('create -f $DIR/request.json'),
    passing('certificate approve $NS'),
    passing('get csr $NS'),
    passing('delete csr $NS'),
    passing('create clusterrole $NS --verb=get --resource=pods --resource-name=x'),
    passing('create clusterrolebinding $NS --clusterrole=$NS --group=nobody'),
    passing('delete clusterrole,clusterrolebinding $NS'),
    passing('create priorityclass $NS --value=17'),
    passing('delete priorityclass $NS'),
    passing('create namespace $NS-extra'),
    passing('create configmap x -n $NS-extra'),
    passing('delete namespace $NS-extra --timeout=60s'),
    failing('get namespace $NS-extra'),
  ],
};

export const LANES: readonly Lane[] = [READS, OBJECTS, WORKLOADS, STREAMS, CLUSTER];

/** Commands of a ServiceAccount that may edit objects of its namespace and read those of `shop`. */
export const ACCOUNT_LANE: Lane = {
  name: 'account',
  commands: [
    passing('auth whoami -o yaml'),
    passing('apply -f $DIR/web.json'),
    passing('rollout status deployment/web --timeout=60s'),
    passing('patch deployment web -p {"spec":{"replicas":2}}'),
    passing('get deployment web -o jsonpath={.spec}'),
    passing('delete deployment web --cascade=foreground --timeout=60s'),
    passing('logs -n shop $POD --tail=2'),
    { args: 'get pods -n shop --watch', until: 'cart-' },
    failing('exec -n shop $POD -- true'),
    failing('get nodes'),
    failing('create role reader --verb=get --resource=secrets'),
    failing('get pods --as=nobody'),
  ],
};

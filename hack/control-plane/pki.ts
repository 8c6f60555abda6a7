// Writes the PKI files of one control plane: CAs and certificates. certificate-authority.ts issues the certificates.
import { generateKeyPair, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasCode } from '../system/error-code.ts';
import { CertificateAuthority, type KeyPair, type Subject, type Validity } from './certificate-authority.ts';

/** Certificates that expire within this time are renewed at the next start, in ms. */
const RENEW_BEFORE = 30 * 24 * 60 * 60 * 1000;

/** The first address of the Service range: the ClusterIP of `kubernetes.default`. */
export const SERVICE_RANGE = '10.96.0.0/16';
const KUBERNETES_SERVICE = '10.96.0.1';

const LOOPBACK = { dns: ['localhost'], ip: ['127.0.0.1', '::1'] };

/** Paths of a certificate and its key. */
export interface PairFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Pki {
  /** Issues the certificates of users, of kube-apiserver and of kubelets. */
  readonly cluster: CertificateAuthority;
  /** Issues only the client certificate of the aggregator. */
  readonly frontProxy: CertificateAuthority;
  /** Client certificate of the aggregator at extension API servers. */
  readonly frontProxyClient: KeyPair;
  /** Issues a client certificate of the cluster's CA. */
  issueClient(subject: Subject, validity?: Validity): Promise<KeyPair>;
  readonly files: PkiFiles;
}

export interface PkiFiles {
  readonly clusterCa: string;
  readonly frontProxyCa: string;
  readonly etcdCa: string;
  readonly apiserver: PairFiles;
  /** Client certificate of kube-apiserver at kubelets, and so at KWOK. */
  readonly kubeletClient: PairFiles;
  readonly frontProxyClient: PairFiles;
  readonly etcdServer: PairFiles;
  readonly etcdClient: PairFiles;
  /** Serving certificate of all simulated kubelets. */
  readonly kubelet: PairFiles;
  /** Client certificate of an administrator, in the group system:masters. */
  readonly admin: PairFiles;
  readonly controllerManager: PairFiles;
  /** Signs ServiceAccount tokens (RSA, PKCS #8). */
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
}

/** Common name of the aggregator, the only allowed name of the front proxy. */
export const FRONT_PROXY_NAME = 'front-proxy-client';

interface PkiOptions {
  /** Further addresses in a new serving certificate of kube-apiserver. */
  readonly addresses?: readonly string[];
  readonly now?: () => number;
}

/** Loads the PKI from the folder; creates missing certificates and renews expiring ones. */
export async function openPki(
  dir: string,
  { addresses = [], now = Date.now }: PkiOptions = {},
): Promise<Pki> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const [cluster, frontProxy, etcd] = await Promise.all([
    openAuthority(dir, 'ca', 'kubernetes', now),
    openAuthority(dir, 'front-proxy-ca', 'front-proxy-ca', now),
    openAuthority(dir, 'etcd-ca', 'etcd-ca', now),
  ]);
  const pair = (name: string, authority: CertificateAuthority, issue: () => Promise<KeyPair>) =>
    openPair(dir, name, authority, issue, now);
  const [
    apiserver,
    kubeletClient,
    proxyClient,
    etcdServer,
    etcdClient,
    kubelet,
    admin,
    controllerManager,
    serviceAccount,
  ] = await Promise.all([
    pair('apiserver', cluster, () =>
      cluster.issueServer(
        { cn: 'kube-apiserver' },
        {
          dns: [
            ...LOOPBACK.dns,
            'kubernetes',
            'kubernetes.default',
            'kubernetes.default.svc',
            'kubernetes.default.svc.cluster.local',
          ],
          ip: [...LOOPBACK.ip, KUBERNETES_SERVICE, ...addresses],
        },
      ),
    ),
    pair('apiserver-kubelet-client', cluster, () =>
      cluster.issueClient({ cn: 'kube-apiserver-kubelet-client', o: ['system:masters'] }),
    ),
    pair('front-proxy-client', frontProxy, () => frontProxy.issueClient({ cn: FRONT_PROXY_NAME })),
    pair('etcd-server', etcd, () => etcd.issueServer({ cn: 'etcd' }, { ...LOOPBACK, peer: true })),
    pair('etcd-client', etcd, () => etcd.issueClient({ cn: 'kube-apiserver-etcd-client' })),
    pair('kubelet', cluster, () => cluster.issueServer({ cn: 'kubelet' }, LOOPBACK)),
    pair('admin', cluster, () => cluster.issueClient({ cn: 'kubernetes-admin', o: ['system:masters'] })),
    pair('controller-manager', cluster, () => cluster.issueClient({ cn: 'system:kube-controller-manager' })),
    openServiceAccountKey(dir),
  ]);
  return {
    cluster,
    frontProxy,
    frontProxyClient: await readPair(proxyClient),
    issueClient: (subject, validity) => cluster.issueClient(subject, validity),
    files: {
      clusterCa: join(dir, 'ca.crt'),
      frontProxyCa: join(dir, 'front-proxy-ca.crt'),
      etcdCa: join(dir, 'etcd-ca.crt'),
      apiserver,
      kubeletClient,
      frontProxyClient: proxyClient,
      etcdServer,
      etcdClient,
      kubelet,
      admin,
      controllerManager,
      ...serviceAccount,
    },
  };
}

/** Opens a serving certificate of ks-apiserver, and its CA in the same folder. */
export async function openServingFiles(
  dir: string,
  names: { readonly dns: readonly string[]; readonly ip: readonly string[] },
): Promise<PairFiles & { readonly ca: string }> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const authority = await openAuthority(dir, 'serving-ca', 'ks-apiserver-serving-ca', Date.now);
  const issue = () => authority.issueServer({ cn: 'ks-apiserver' }, names);
  const pair = await openPair(dir, 'serving', authority, issue, Date.now);
  return { ...pair, ca: filesOf(dir, 'serving-ca').cert };
}

export async function readPair(files: PairFiles): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')]);
  return { cert, key };
}

async function openAuthority(
  dir: string,
  name: string,
  cn: string,
  now: () => number,
): Promise<CertificateAuthority> {
  const files = filesOf(dir, name);
  const found = await findPair(files);
  if (found !== undefined && lasts(found.cert, now)) return CertificateAuthority.from(found);
  const created = await CertificateAuthority.create(cn);
  await writePair(files, created);
  return created;
}

async function openPair(
  dir: string,
  name: string,
  authority: CertificateAuthority,
  issue: () => Promise<KeyPair>,
  now: () => number,
): Promise<PairFiles> {
  const files = filesOf(dir, name);
  const found = await findPair(files);
  const issuer = new X509Certificate(authority.cert).publicKey;
  if (found === undefined || !lasts(found.cert, now) || !new X509Certificate(found.cert).verify(issuer)) {
    await writePair(files, await issue());
  }
  return files;
}

async function openServiceAccountKey(
  dir: string,
): Promise<{ serviceAccountKey: string; serviceAccountPublicKey: string }> {
  const files = { serviceAccountKey: join(dir, 'sa.key'), serviceAccountPublicKey: join(dir, 'sa.pub') };
  if ((await findPair({ cert: files.serviceAccountPublicKey, key: files.serviceAccountKey })) === undefined) {
    const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
    await writePair(
      { cert: files.serviceAccountPublicKey, key: files.serviceAccountKey },
      {
        cert: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      },
    );
  }
  return files;
}

function filesOf(dir: string, name: string): PairFiles {
  return { cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) };
}

function lasts(cert: string, now: () => number): boolean {
  return Date.parse(new X509Certificate(cert).validTo) - now() > RENEW_BEFORE;
}

async function findPair(files: PairFiles): Promise<KeyPair | undefined> {
  try {
    return await readPair(files);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes the key before the certificate, both atomically, so that a certificate always has its key. */
async function writePair(files: PairFiles, pair: KeyPair): Promise<void> {
  await writeWhole(files.key, pair.key, 0o600);
  await writeWhole(files.cert, pair.cert, 0o644);
}

async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const next = `${path}.new`;
  await writeFile(next, text, { mode });
  await rename(next, path);
}

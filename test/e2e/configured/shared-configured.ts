// The gateway of all tests in this folder: its configuration has VictoriaLogs, further OAuth clients and the origin of a
// console.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startVictoriaLogs } from '../../../hack/log-stores/victorialogs.ts';
import { freePorts } from '../../../hack/system/ports.ts';
import { ActiveDirectory } from '../../support/directory/active-directory.ts';
import { PEOPLE, READER } from '../../support/directory/directory.ts';
import { shareEnvironment } from '../../support/shared-environment.ts';
import { until } from '../../support/until.ts';
import { GatewayPlatform } from '../gateway/gateway-platform.ts';
import { PASSWORD, type Platform } from '../platform.ts';
import { ConsoleSite } from './console-site.ts';

/** A client whose ID tokens kube-apiserver and the gateway accept. */
export const CLIENT = 'kubectl';
/** A client whose ID tokens kube-apiserver does not accept. */
export const OTHER_CLIENT = 'other';
/** A client whose ID tokens, signed with RS256, both servers accept. */
export const RS256_CLIENT = 'rs256';
/** A client whose ID tokens the gateway accepts, but kube-apiserver does not. */
export const UNTRUSTED_CLIENT = 'untrusted';

/** A person of the directory, with the password `PERSON-password`. */
export const PERSON = 'penny';

/** Its members need a second factor. */
export const FACTORED_GROUP = 'factored';

/** Creates a user. Resolves when the server accepts the password, and kube-apiserver an access token. */
export async function addUser(platform: Platform, username: string, spec: object = {}): Promise<void> {
  await platform.addUser(username, PASSWORD, spec);
  const form = { grant_type: 'password', username, password: PASSWORD, client_id: CLIENT };
  const request = { method: 'POST', body: new URLSearchParams(form) } as const;
  let token: unknown;
  await until(async () => {
    ({ access_token: token } = (await platform.ask('/oauth/token', request)).body);
    return token !== undefined;
  });
  await platform.accepted(String(token));
}

/** Clients of kubelogin, and of other programs with ID tokens, in the configuration of the server. */
const ID_TOKEN_CLIENTS = [CLIENT, OTHER_CLIENT, RS256_CLIENT, UNTRUSTED_CLIENT].map((id) => ({
  id,
  public: true,
  idTokensAtGateway: id !== OTHER_CLIENT,
  idTokenSignedResponseAlg: id === RS256_CLIENT ? 'RS256' : 'ES256',
  grants: ['password', 'refresh_token', 'authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
  redirectURIs: ['http://localhost'],
}));

/** A program with a secret, at a loopback port. */
export interface RelyingParty {
  readonly port: number;
  readonly client: { readonly id: string; readonly secret: string };
}

/** Entry of a program in the configuration of the server. */
async function confidentialClient({ port, client }: RelyingParty, dir: string): Promise<object> {
  const { id, secret } = client;
  const secretFile = join(dir, id);
  await writeFile(secretFile, secret);
  const address = `http://127.0.0.1:${port}/`;
  return {
    id,
    secretFiles: [secretFile],
    refreshTokens: 'kept',
    redirectURIs: [`${address}oauth2/callback`],
    postLogoutRedirectURIs: [address],
  };
}

/** A provider whose people choose their user names. */
async function identityProvider({ ca, ldapsPort }: ActiveDirectory, dir: string): Promise<object> {
  const caFile = join(dir, 'directory-ca.crt');
  await writeFile(caFile, ca);
  return {
    name: 'directory',
    displayName: 'Company account',
    accounts: 'choose',
    ldap: {
      schema: 'activeDirectory',
      hosts: [`localhost:${ldapsPort}`],
      caFile,
      bindDN: READER.dn,
      userSearch: { base: PEOPLE },
    },
  };
}

export const sharedConfigured = shareEnvironment(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'ks-apiserver-logs-'));
  const end = new AbortController();
  const site = await ConsoleSite.start();
  const relyingParties: readonly RelyingParty[] = (await freePorts(3)).map((port, index) => ({
    port,
    client: { id: `program-${index}`, secret: `secret of program ${index}` },
  }));
  const confidential = await Promise.all(relyingParties.map((party) => confidentialClient(party, dir)));
  const directory = await ActiveDirectory.start();
  await directory.person(PERSON);
  const identityProviders = [await identityProvider(directory, dir)];
  const store = await startVictoriaLogs({ dir: join(dir, 'victorialogs'), signal: end.signal });
  const configuration = {
    logging: { store: 'victorialogs', victorialogs: { url: store.url } },
    cors: { allowedOrigins: [site.origin] },
    oauth: {
      clients: [site.client, ...ID_TOKEN_CLIENTS, ...confidential],
      identityProviders,
      secondFactor: { groups: [FACTORED_GROUP] },
    },
    shutdown: { readinessDelay: '0s' },
  };
  const gateway = await GatewayPlatform.start({
    configure: async () => configuration,
    idTokensOf: [CLIENT, RS256_CLIENT],
  });
  await gateway.platform.succeeding(
    `create secret generic ks-apiserver-identity-providers -n platform-system --from-literal=bindPassword=${READER.password}`,
  );
  site.server = gateway.platform.server.url;
  site.pod = gateway.pod.name;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    end.abort();
    await store.stop();
    await directory[Symbol.asyncDispose]();
    site.stop();
    await rm(dir, { recursive: true, force: true });
  };
  return { gateway, store, site, relyingParties, stop };
});

// The commands of users: `login` signs in and writes a context into the kubeconfig, `logout` terminates the session.

import { KUBECTL_CLIENT } from '../apis/oauth/kubectl-client.ts';
import { UsageError } from '../apis/reading/command-line.ts';
import { type LoginArguments, type LogoutArguments, type Target } from './arguments.ts';
import { AuthorizationServer } from './authorization-server.ts';
import { checkContextName, kubeconfigFile, readContext, writeContext } from './kubeconfig.ts';
import { Session } from './session.ts';
import { type Program, signIn } from './sign-in.ts';
import { readCertificates } from './trusted-certificates.ts';

export async function login(given: LoginArguments, program: Program): Promise<void> {
  const { env, print, plugin } = program;
  const file = kubeconfigFile(given.kubeconfig, env);
  const target = await targetOf(file, given);
  await checkContextName(file, target.context);
  const server = await AuthorizationServer.discover(target);
  const signedIn = await signIn(server, target, { ...program, device: given.device });
  await Session.of(target, env).replace(signedIn.tokens);
  await writeContext(file, target, plugin);
  print(`Signed in as ${signedIn.user}. The current context in ${file} is now "${target.context}".`);
  if (signedIn.tokens.refreshToken === undefined) {
    print(
      `The client ${target.clientID} gets no refresh token: sign in again when the access token expires.`,
    );
  }
}

export async function logout(
  { kubeconfig, context }: LogoutArguments,
  { env, print }: Program,
): Promise<void> {
  const target = await readContext(kubeconfigFile(kubeconfig, env), context);
  if (target === undefined) throw noContext(context);
  const { server } = target;
  const ended = await Session.of(target, env).end();
  print(ended ? `Signed out of ${server}.` : `You are not signed in to ${server}.`);
}

/** Completes the options of the command line by the context in the kubeconfig. */
async function targetOf(file: string, given: LoginArguments): Promise<Target> {
  const name = given.context ?? (given.server === undefined ? undefined : new URL(given.server).host);
  const existing = await readContext(file, name);
  const server = given.server ?? existing?.server;
  const context = name ?? existing?.context;
  if (server === undefined || context === undefined) throw noContext(name);
  const known = existing?.server === server ? existing : undefined;
  return {
    server,
    context,
    clientID: given.clientID ?? known?.clientID ?? KUBECTL_CLIENT,
    ca: given.caFile === undefined ? known?.ca : await readCertificates(given.caFile),
  };
}

function noContext(name: string | undefined): UsageError {
  const context = name === undefined ? 'the current context' : `the context "${name}"`;
  return new UsageError(`${context} was not created by this program: name the server; see --help`);
}

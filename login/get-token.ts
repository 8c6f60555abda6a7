// The command of kubectl: prints a credential (client.authentication.k8s.io/v1). It refreshes the tokens, and signs in
// if kubectl runs in a terminal.
import { UsageError } from '../apis/reading/command-line.ts';
import { recordIn, text } from '../apis/reading/unknown-value.ts';
import { EXEC_API_VERSION, type GetTokenArguments, type Target } from './arguments.ts';
import { AuthorizationServer } from './authorization-server.ts';
import { LoginError } from './login-error.ts';
import { Session } from './session.ts';
import { type Program, signIn } from './sign-in.ts';
import type { Tokens } from './tokens.ts';
import { readCertificates } from './trusted-certificates.ts';

/** kubectl reads the credential from standard output. Everything else goes to standard error. */
export async function getToken({ target, caFile }: GetTokenArguments, program: Program): Promise<void> {
  const spec = execSpec(program.env);
  const ca = caFile === undefined ? certificatesIn(spec) : await readCertificates(caFile);
  const whole = { ...target, ca };
  const session = Session.of(whole, program.env);
  const tokens =
    (await session.tokens()) ?? (await signInAgain(whole, spec['interactive'] === true, program));
  process.stdout.write(`${JSON.stringify(credentialOf(tokens))}\n`);
}

async function signInAgain(target: Target, interactive: boolean, program: Program): Promise<Tokens> {
  const { server, context } = target;
  if (!interactive) {
    const command = `npm --prefix ${program.clone} run login -- ${server} --context ${context}`;
    throw new LoginError(`you are not signed in to ${server}; sign in with: ${command}`);
  }
  program.print(`You are not signed in to ${server}.`);
  const { tokens } = await signIn(await AuthorizationServer.discover(target), target, program);
  await Session.of(target, program.env).replace(tokens);
  return tokens;
}

/** `spec` of the ExecCredential that kubectl passes to its plugins. */
function execSpec(env: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  try {
    return recordIn(JSON.parse(env['KUBERNETES_EXEC_INFO'] ?? ''), 'spec');
  } catch {
    throw new UsageError('get-token is started by kubectl, which sets KUBERNETES_EXEC_INFO; see --help');
  }
}

function certificatesIn(spec: unknown): string | undefined {
  const data = text(recordIn(spec, 'cluster')['certificate-authority-data']);
  return Buffer.from(data, 'base64').toString('utf8') || undefined;
}

function credentialOf({ accessToken, refreshAt }: Tokens): object {
  const status = { token: accessToken, expirationTimestamp: new Date(refreshAt).toISOString() };
  return { apiVersion: EXEC_API_VERSION, kind: 'ExecCredential', status };
}

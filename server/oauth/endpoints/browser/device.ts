// The device flow's own endpoints: where a device asks (RFC 8628, 3.1) and where a person enters its code (3.3).
import { invalidRequest, unauthorizedClient } from '../../../../apis/oauth/errors.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import type { ClientRegistry, OAuthClient } from '../../clients/oauth-client.ts';
import type { CodeTries } from '../../codes/code-tries.ts';
import { DEVICE_LIFETIME_MS, type DeviceRequest, type DeviceRequests } from '../../codes/device-requests.ts';
import { POLL_INTERVAL } from '../../codes/poll-pace.ts';
import { parseUserCode, requestID } from '../../codes/user-code.ts';
import { writeJSON } from '../../http/json-answer.ts';
import { requestedScopes } from '../../http/scopes.ts';
import type { SourceAddress } from '../../http/source-address.ts';
import type { Alert } from '../../page/alert.ts';
import {
  deviceConnectedPage,
  deviceNotice,
  deviceRefusedPage,
  userCodePage,
} from '../../page/device-page.ts';
import { type PageOptions, writePage } from '../../page/page.ts';
import { readClientRequest } from '../client-request.ts';
import { forBrowsers, PageFault } from './browser-handler.ts';
import type { Continuation, SignInForms } from './sign-in.ts';

export const DEVICE_PATH = '/oauth/device';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

export interface DeviceAuthorizationOptions {
  readonly issuer: () => string;
  readonly clients: ClientRegistry;
  readonly requests: Pick<DeviceRequests, 'open'>;
  readonly sourceOf: SourceAddress;
}

/** POST /oauth/device_authorization. */
export function deviceAuthorizationHandler(options: DeviceAuthorizationOptions): Handler {
  const { issuer, clients, requests, sourceOf } = options;
  return async (context) => {
    const { request, response, signal } = context;
    const { form, client } = await readClientRequest(context, clients);
    if (!mayConnect(client)) throw unauthorizedClient('the client may not use this grant');
    const scopes = requestedScopes(form.get('scope'), client.scopes);
    const origin = { source: sourceOf(request), userAgent: request.headers['user-agent'] ?? '' };
    const { deviceCode, userCode } = await requests.open(client, scopes, origin, signal);
    const page = `${issuer()}/device`;
    writeJSON(response, {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: DEVICE_LIFETIME_MS / 1000,
      interval: POLL_INTERVAL,
    });
  };
}

/** What the sign-in page passes along: a request, and the code that was typed for it. */
export interface TypedRequest extends DeviceRequest {
  readonly userCode: string;
}

export interface DevicePageOptions {
  readonly issuer: () => string;
  readonly requests: Pick<DeviceRequests, 'find'>;
  /** Slows down who tries codes. */
  readonly tries: Pick<CodeTries, 'wait' | 'failed'>;
  readonly sourceOf: SourceAddress;
}

/** GET /oauth/device. */
export function devicePageHandler(
  { issuer, requests, tries, sourceOf }: DevicePageOptions,
  forms: Pick<SignInForms<TypedRequest>, 'show'>,
): Handler {
  return forBrowsers(['GET', 'HEAD'], issuer, (context) => {
    const typed = typedIn(context);
    if (typed === '') return ask(context);
    const from = sourceOf(context.request);
    const wait = tries.wait(from);
    if (wait > 0) {
      const text = `Too many codes that are not known. Try again in ${wait === 1 ? '1 second' : `${wait} seconds`}.`;
      return ask(context, typed, { text }, { status: 429, headers: { 'Retry-After': String(wait) } });
    }
    const userCode = parseUserCode(typed);
    const request = userCode === undefined ? undefined : requests.find(requestID(userCode));
    if (userCode === undefined || !request) {
      tries.failed(from);
      const text = 'This code is not known, or it has expired.';
      return ask(context, typed, { text, field: 'user_code' }, { status: 400 });
    }
    forms.show(context, { ...request, userCode });
  });
}

export interface DeviceContinuationOptions {
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly requests: Pick<DeviceRequests, 'stands' | 'approve' | 'deny'>;
}

/** After signing in the person goes back to the device by hand. */
export function deviceContinuation(options: DeviceContinuationOptions): Continuation<TypedRequest> {
  const { clients, requests } = options;
  const clientOf = (request: DeviceRequest): OAuthClient => {
    const client = clients.get(request.clientID);
    // One that was approved stands too: a form that is sent twice should say that the device is connected.
    if (!client || !mayConnect(client) || !requests.stands(request)) throw gone();
    return client;
  };
  return {
    describe: (request) => {
      const { userCode, scopes, source, userAgent } = request;
      const notice = deviceNotice(userCode, source, userAgent);
      return { client: clientOf(request), scopes, notice, destination: undefined };
    },
    granted: async ({ response, signal, log }, request, { account, credential }) => {
      const client = clientOf(request);
      const outcome = await requests.approve(request, { account, credential }, signal);
      if (outcome !== 'approved') throw gone();
      log.info({ user: account.name, client: client.id }, 'a device was connected');
      writePage(response, deviceConnectedPage(client.displayName));
    },
    cancelled: async ({ response, signal }, request) => {
      if (!(await requests.deny(request, signal))) throw tooLate();
      writePage(response, deviceRefusedPage());
    },
  };
}

function ask({ response }: RequestContext, code = '', alert?: Alert, options: PageOptions = {}): void {
  writePage(response, userCodePage({ action: DEVICE_PATH, code, alert }), options);
}

function typedIn({ query }: RequestContext): string {
  const typed = query.getAll('user_code');
  if (typed.length > 1) throw invalidRequest('a parameter is repeated');
  return typed[0] ?? '';
}

function mayConnect(client: OAuthClient): boolean {
  return client.grants.includes(GRANT);
}

function gone(): PageFault {
  return new PageFault(
    400,
    'This code cannot be used',
    'It has expired, or somebody has used it already. Start again at your device.',
  );
}

function tooLate(): PageFault {
  return new PageFault(
    400,
    'The device is connected',
    'Somebody has signed in for it already. To end that, sign out at the device.',
  );
}

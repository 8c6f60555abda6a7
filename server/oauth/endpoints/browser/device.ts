// Device authorization endpoint (RFC 8628, 3.1), and the page where users enter the user code (3.3).
import { DeviceAuthorizationFormSchema, UserCodeFormSchema } from '../../../../apis/oauth/forms.ts';
import { unauthorizedClient } from '../../../../apis/oauth/oauth-error.ts';
import type { Handler, RequestContext } from '../../../request/request-context.ts';
import { originOf, type SourceAddress } from '../../../request/source-address.ts';
import { readClientRequest } from '../../clients/client-authentication.ts';
import type { ClientRegistry, OAuthClient } from '../../clients/oauth-client.ts';
import { parseUserCode, requestID } from '../../codes/device-codes.ts';
import { DEVICE_LIFETIME_MS, type DeviceRequest, type DeviceRequests } from '../../codes/device-requests.ts';
import { POLL_INTERVAL } from '../../grants/device-code-grant.ts';
import { requestedScopes } from '../../http/form.ts';
import { FormDecoder } from '../../http/form-decoder.ts';
import { writeJSON } from '../../http/oauth-response.ts';
import {
  deviceConnectedPage,
  deviceNotice,
  deviceRefusedPage,
  userCodePage,
} from '../../page/device-pages.ts';
import type { Alert } from '../../page/form-fields.ts';
import { type PageOptions, writePage } from '../../page/page.ts';
import type { SignInPageTexts } from '../../page/sign-in-pages.ts';
import { SourceThrottle } from '../../throttle/delays.ts';
import type { AccountChoice } from './account-choice.ts';
import { type BrowserHandlerOptions, browserHandler, PageError } from './browser-handler.ts';
import type { BrowserSessions } from './browser-sessions.ts';
import type { Continuation } from './continuation.ts';
import type { SignInForms } from './sign-in.ts';

export const DEVICE_PATH = '/oauth/device';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

interface DeviceOptions {
  readonly issuer: () => string;
  readonly clients: ClientRegistry;
  readonly requests: DeviceRequests;
  readonly sourceOf: SourceAddress;
}

const FORM = new FormDecoder(DeviceAuthorizationFormSchema);

/** POST /oauth/device_authorization. */
export function deviceAuthorizationHandler(options: DeviceOptions): Handler {
  const { issuer, clients, requests, sourceOf } = options;
  return async (context) => {
    const { request, response, signal } = context;
    const { form, client } = await readClientRequest(context, clients);
    if (!usesDeviceGrant(client)) throw unauthorizedClient('the client is not allowed to use this grant');
    const scopes = requestedScopes(FORM.decode(form).scope, client.scopes);
    const origin = originOf(request, sourceOf);
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

/** An open device request with the user code that the user typed. The form ticket of the sign-in page contains it. */
interface TypedRequest extends DeviceRequest {
  readonly userCode: string;
}

interface DevicePageOptions extends DeviceOptions, BrowserHandlerOptions {
  readonly throttle: SourceThrottle;
  readonly browsers: Pick<BrowserSessions, 'of'>;
  readonly forms: Pick<SignInForms<TypedRequest>, 'show'>;
  readonly choice: Pick<AccountChoice<TypedRequest>, 'show'>;
  readonly texts: Pick<SignInPageTexts, 'platformName'>;
}

const USER_CODE_FORM = new FormDecoder(UserCodeFormSchema);

/** GET /oauth/device. */
export function devicePageHandler(options: DevicePageOptions): Handler {
  const { requests, throttle, texts, browsers, forms, choice } = options;
  const { platformName } = texts;
  const showForm = (
    { response }: RequestContext,
    code = '',
    alert?: Alert,
    options: PageOptions = {},
  ): void => writePage(response, userCodePage({ platformName, action: DEVICE_PATH, code, alert }), options);
  return browserHandler(options, async (context) => {
    const { user_code: typed } = await USER_CODE_FORM.read(context.request);
    if (typed === undefined) return showForm(context);
    const wait = throttle.wait(context.request);
    if (wait > 0) {
      const text = `Too many unknown codes. Try again in ${wait === 1 ? '1 second' : `${wait} seconds`}.`;
      return showForm(context, typed, { text }, { status: 429, headers: { 'Retry-After': String(wait) } });
    }
    const userCode = parseUserCode(typed);
    const request = userCode === undefined ? undefined : requests.find(requestID(userCode));
    if (userCode === undefined || !request) {
      throttle.failed(context.request);
      const text = 'This code is unknown or has expired.';
      return showForm(context, typed, { text, field: 'user_code' }, { status: 400 });
    }
    const signedIn = await browsers.of(context);
    const shown = { ...request, userCode };
    // The user confirms each device, also when signed in: the link may come from an attacker.
    if (signedIn.length > 0) return choice.show(context, shown, signedIn);
    return forms.show(context, shown);
  });
}

/** The continuation of a device request: approves or denies the request, and shows the result. */
export function deviceContinuation({ clients, requests }: DeviceOptions): Continuation<TypedRequest> {
  const clientOf = (request: DeviceRequest): OAuthClient => {
    const client = clients.get(request.clientID);
    // An approved request is accepted too, so that a form that is sent twice shows the page of success.
    if (!client || !usesDeviceGrant(client) || !requests.isOpenOrApproved(request)) throw unusable();
    return client;
  };
  return {
    describe: (request) => {
      const { userCode, scopes, source, userAgent } = request;
      const notice = deviceNotice(userCode, source, userAgent);
      return { client: clientOf(request), scopes, notice, destination: undefined };
    },
    accepts: () => true,
    granted: async (context, request, by) => {
      const { response, log } = context;
      const client = clientOf(request);
      const outcome = await requests.approve(request, by, context);
      if (outcome !== 'approved') throw unusable();
      log.info({ user: by.account.name, client: client.id }, 'device connected');
      writePage(response, deviceConnectedPage(client.displayName));
    },
    cancelled: async (context, request) => {
      if (!(await requests.deny(request, context))) throw alreadyApproved();
      writePage(context.response, deviceRefusedPage());
    },
  };
}

function usesDeviceGrant(client: OAuthClient): boolean {
  return client.grants.includes(GRANT);
}

function unusable(): PageError {
  return new PageError(
    400,
    'This code cannot be used',
    'It has expired or was already used. Start again at your device.',
  );
}

function alreadyApproved(): PageError {
  return new PageError(
    400,
    'The device is connected',
    'A user has already signed in for it. To undo that, sign out at the device.',
  );
}

/**
 * RFC 8628, 5.1. At most 200 of 25.6 billion codes are open, so one of 128 million guesses is right on average, and an address has 22 at a
 * replica in the lifetime of a request. A right guess only connects the device of another user to the guesser's own account.
 */
const USER_CODES = { failures: 10, delay: 5000, maxDelay: 60_000, reset: 600_000, entries: 10_000 } as const;

/** Counts unknown user codes. */
export function newUserCodeThrottle({
  sourceOf,
  monotonic,
}: Pick<DevicePageOptions, 'sourceOf'> & { readonly monotonic: () => number }): SourceThrottle {
  return new SourceThrottle(USER_CODES, sourceOf, monotonic);
}

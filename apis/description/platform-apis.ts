// Generates the OpenAPI 3.1 document of all APIs that this server implements. custom-resources-document.ts
// generates the document of the custom resources.
import {
  FactorResetSchema,
  NewUserSchema,
  PasswordChangeSchema,
  ReplacedUserSchema,
} from '../iam/v1beta1/requests.ts';
import { StatusSchema } from '../meta/v1/status.ts';
import {
  AuthorizationParametersSchema,
  DeviceAuthorizationFormSchema,
  LogoutParametersSchema,
  PresentedTokenFormSchema,
  PushedAuthorizationFormSchema,
  TokenFormSchema,
  UserInfoFormSchema,
} from '../oauth/forms.ts';
import { ServerMetadataSchema } from '../oauth/metadata.ts';
import {
  DeviceAuthorizationSchema,
  IntrospectionSchema,
  KeySetSchema,
  LogoutSchema,
  OAuthErrorSchema,
  PushedAuthorizationSchema,
  TokenResponseSchema,
  UserInfoSchema,
} from '../oauth/response-schemas.ts';
import {
  ResourceListSchema,
  ResourceSchema,
  SearchResultSchema,
} from '../resources/v1alpha3/resource-list.ts';
import { serverOperations } from './health-operations.ts';
import { resourceOperations } from './list-operations.ts';
import { LOG_SCHEMAS, logOperations } from './log-operations.ts';
import { oauthOperations } from './oauth-operations.ts';
import { type OpenAPIDocument, openAPIDocument } from './openapi-document.ts';
import { UserListSchema, UserResponseSchema, userOperations } from './user-operations.ts';

export interface PlatformOptions {
  /** The `<platform>` of the API groups. */
  readonly platform: string;
  /** Version of the server, without a `v`. */
  readonly version: string;
  /** True if the OAuth endpoints and user management are enabled. */
  readonly oauth: boolean;
  readonly logs: boolean;
}

const SERVER_SCHEMAS = {
  Status: StatusSchema,
  ResourceList: ResourceListSchema,
  Resource: ResourceSchema,
  SearchResult: SearchResultSchema,
};

const SIGN_IN_SCHEMAS = {
  UserList: UserListSchema,
  User: UserResponseSchema,
  NewUser: NewUserSchema,
  ReplacedUser: ReplacedUserSchema,
  PasswordChange: PasswordChangeSchema,
  FactorReset: FactorResetSchema,
  TokenForm: TokenFormSchema,
  TokenResponse: TokenResponseSchema,
  OAuthError: OAuthErrorSchema,
  PresentedTokenForm: PresentedTokenFormSchema,
  Introspection: IntrospectionSchema,
  UserInfoForm: UserInfoFormSchema,
  UserInfo: UserInfoSchema,
  DeviceAuthorizationForm: DeviceAuthorizationFormSchema,
  DeviceAuthorization: DeviceAuthorizationSchema,
  AuthorizationParameters: AuthorizationParametersSchema,
  PushedAuthorizationForm: PushedAuthorizationFormSchema,
  PushedAuthorization: PushedAuthorizationSchema,
  LogoutParameters: LogoutParametersSchema,
  Logout: LogoutSchema,
  KeySet: KeySetSchema,
  ServerMetadata: ServerMetadataSchema,
};

const SCOPES = {
  openid: 'An ID token.',
  profile: 'Name and display name of the user.',
  email: 'The email address of the user.',
  groups: 'The groups of the user.',
};

const BEARER = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token.' },
};

const SIGN_IN = {
  oauth: {
    type: 'oauth2',
    description:
      'Sign-in at this server: on the sign-in page, with the public client `openapi-page`, or with a password and a client that has the password grant.',
    flows: {
      password: { tokenUrl: '/oauth/token', refreshUrl: '/oauth/token', scopes: SCOPES },
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: SCOPES,
      },
    },
  },
  client: { type: 'http', scheme: 'basic', description: 'Id and secret of an OAuth client.' },
};

export function platformDescription({ platform, version, oauth, logs }: PlatformOptions): OpenAPIDocument {
  const operations = [
    ...resourceOperations(platform),
    ...(logs ? logOperations(platform) : []),
    ...(oauth ? [...userOperations(platform), ...oauthOperations()] : []),
    ...serverOperations(),
  ].map((operation) => ({
    ...operation,
    security: operation.security.filter((schemes) => oauth || !schemes.some((name) => name === 'oauth')),
  }));
  const document = openAPIDocument({
    info: { title: 'ks-apiserver', version, summary: 'The APIs of the platform.' },
    tags: [
      { name: 'resources', description: 'Lists of all kinds of the cluster, for consoles.' },
      ...(logs ? [{ name: 'logs', description: 'Container logs.' }] : []),
      ...(oauth
        ? [
            { name: 'users', description: 'Users that can sign in.' },
            { name: 'oauth', description: 'OAuth 2.0 and OpenID Connect.' },
          ]
        : []),
      { name: 'server', description: 'Health and version.' },
    ],
    operations,
    schemas: { ...SERVER_SCHEMAS, ...(logs ? LOG_SCHEMAS : {}), ...(oauth ? SIGN_IN_SCHEMAS : {}) },
    securitySchemes: { ...BEARER, ...(oauth ? SIGN_IN : {}) },
  });
  // Descriptions contain a placeholder for the platform.
  return JSON.parse(JSON.stringify(document).replaceAll('<platform>', platform)) as OpenAPIDocument;
}

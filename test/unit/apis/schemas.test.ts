// Tests of all JSON Schemas against the metaschema.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { APIServerConfigurationSchema } from '../../../apis/config/v1alpha1/configuration.ts';
import { CUSTOM_RESOURCES } from '../../../apis/iam/v1beta1/custom-resources.ts';
import {
  NewUserSchema,
  PasswordChangeSchema,
  ReplacedUserSchema,
  UserQuerySchema,
} from '../../../apis/iam/v1beta1/requests.ts';
import { LogQuerySchema } from '../../../apis/logging/v1alpha2/log-query.ts';
import * as forms from '../../../apis/oauth/forms.ts';
import { NO_QUERY_SCHEMA, resourceQuerySchema } from '../../../apis/resources/v1alpha3/resource-query.ts';
import { SearchQuerySchema } from '../../../apis/resources/v1alpha3/search-query.ts';

/** Schemas that the server compiles without metaschema validation (TRUSTED_SCHEMA). */
const SCHEMAS: Readonly<Record<string, object>> = {
  configuration: APIServerConfigurationSchema,
  'a new user': NewUserSchema,
  'a replaced user': ReplacedUserSchema,
  'a change of password': PasswordChangeSchema,
  'a query for users': UserQuerySchema,
  'a query for objects': resourceQuerySchema({ sortKeys: ['name'], statuses: ['Ready'], filters: ['role'] }),
  'a search': SearchQuerySchema,
  'no query': NO_QUERY_SCHEMA,
  'a query for logs': LogQuerySchema,
  ...forms,
  ...Object.fromEntries(CUSTOM_RESOURCES.map(({ kind, spec }) => [`the spec of a ${kind}`, spec])),
};

describe('the schema of', () => {
  const ajv = new Ajv2020({ strict: false });
  for (const [what, schema] of Object.entries(SCHEMAS)) {
    it(`${what} is JSON Schema`, () => {
      void ajv.validateSchema(schema);
      expect(ajv.errors ?? []).to.deep.equal([]);
    });
  }
});

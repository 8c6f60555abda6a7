// Shows one OpenAPI document in Swagger UI on the API page, in the browser.
/* global SwaggerUIBundle */
const of = new URLSearchParams(location.search).get('of');
const links = [...document.querySelectorAll('nav a')];
const shown = links.find((link) => of !== null && link.search === `?of=${of}`) ?? links[0];
shown.setAttribute('aria-current', 'page');

// Swagger UI selects its color scheme by a class, not by the media query.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

const isSignInPage = (schema) => schema.get('flow') === 'authorizationCode';
const hasSignInPage = (definition) => definition.some(isSignInPage);

/**
 * The Authorize dialog: the sign-in page comes first and has the focus, all other schemes are collapsed. Otherwise the
 * focus is in a field for client credentials, where people type their own password.
 */
const authorizeDialog = () => ({
  wrapComponents: {
    authorizationPopup:
      (Dialog, { React }) =>
      (props) => {
        const shownDefinitions = () =>
          props.authSelectors.shownDefinitions().sortBy((definition) => (hasSignInPage(definition) ? 0 : 1));
        return React.createElement(Dialog, {
          ...props,
          authSelectors: { ...props.authSelectors, shownDefinitions },
        });
      },
    auths:
      (Auths, { React }) =>
      (props) => {
        const part = React.useRef(null);
        const isFirst = hasSignInPage(props.definitions);
        React.useEffect(() => {
          if (isFirst)
            part.current.querySelector('.btn.authorize, .btn.auth')?.focus({ preventScroll: true });
        }, [isFirst]);
        const form = React.createElement(Auths, props);
        if (isFirst) return React.createElement('div', { ref: part, className: 'sign-in-page' }, form);
        const title = props.definitions
          .map((schema, name) => [name, schema.get('flow') ?? schema.get('scheme')].join(': '))
          .valueSeq()
          .join(', ');
        return React.createElement(
          'details',
          { className: 'other-scheme', open: !props.authSelectors.shownDefinitions().some(hasSignInPage) },
          React.createElement('summary', null, title),
          form,
        );
      },
    oauth2:
      (Form, { React }) =>
      (props) => {
        // The client that the server has for this page has the authorization code grant only.
        const authSelectors = isSignInPage(props.schema)
          ? props.authSelectors
          : { ...props.authSelectors, getConfigs: () => undefined };
        return React.createElement(Form, { ...props, authSelectors });
      },
    Input:
      (Input, { React }) =>
      (props) =>
        React.createElement(Input, isToken(props) ? { ...props, type: 'password' } : props),
  },
});

/** The field for a bearer token. */
const isToken = (props) => props.id === 'auth-bearer-value' || props['aria-label'] === 'auth-bearer-value';

/** Each HEAD operation repeats the GET above it. */
const withoutHeadOperations = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        taggedOperations:
          (selector) =>
          (state, ...args) =>
            selector(state, ...args).map((tag) =>
              tag.update('operations', (operations) =>
                operations.filter((operation) => operation.get('method') !== 'head'),
              ),
            ),
      },
    },
  },
});

const ui = SwaggerUIBundle({
  url: shown.dataset.description,
  dom_id: '#description',
  deepLinking: true,
  // Tokens are discarded with the page.
  persistAuthorization: false,
  // The default validator is a service on another host.
  validatorUrl: null,
  plugins: [authorizeDialog, withoutHeadOperations],
  oauth2RedirectUrl: `${location.origin}/openapi/page/oauth2-redirect.html`,
});
ui.initOAuth({
  clientId: 'openapi-page',
  scopes: 'openid',
  usePkceWithAuthorizationCodeGrant: true,
});

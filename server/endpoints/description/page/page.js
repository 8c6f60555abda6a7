// Shows one of the descriptions. Runs in the browser.
/* global SwaggerUIBundle */
const of = new URLSearchParams(location.search).get('of');
const links = [...document.querySelectorAll('nav a')];
const shown = links.find((link) => of !== null && link.search === `?of=${of}`) ?? links[0];
shown.setAttribute('aria-current', 'page');

// The viewer goes by a class, not by what the browser prefers.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

/** The client that the server has for this page may use codes and nothing else: elsewhere people say which they are. */
const clientOfPage = () => ({
  wrapComponents: {
    oauth2:
      (Form, { React }) =>
      (props) => {
        const ownClient = props.schema.get('flow') === 'authorizationCode';
        const authSelectors = ownClient
          ? props.authSelectors
          : { ...props.authSelectors, getConfigs: () => undefined };
        return React.createElement(Form, { ...props, authSelectors });
      },
  },
});

const ui = SwaggerUIBundle({
  url: shown.dataset.description,
  dom_id: '#description',
  deepLinking: true,
  // Who signed in is forgotten with the page.
  persistAuthorization: false,
  // The validator is a service elsewhere.
  validatorUrl: null,
  plugins: [clientOfPage],
  oauth2RedirectUrl: `${location.origin}/openapi/page/oauth2-redirect.html`,
});
ui.initOAuth({
  clientId: 'openapi-page',
  scopes: 'openid',
  usePkceWithAuthorizationCodeGrant: true,
});

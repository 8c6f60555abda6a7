// Shows one of the descriptions. Runs in the browser.
/* global SwaggerUIBundle */
const of = new URLSearchParams(location.search).get('of');
const links = [...document.querySelectorAll('nav a')];
const shown = links.find((link) => of !== null && link.search === `?of=${of}`) ?? links[0];
shown.setAttribute('aria-current', 'page');

const ui = SwaggerUIBundle({
  url: shown.dataset.description,
  dom_id: '#description',
  deepLinking: true,
  // Who signed in is forgotten with the page.
  persistAuthorization: false,
  // The validator is a service elsewhere.
  validatorUrl: null,
  oauth2RedirectUrl: `${location.origin}/openapi/page/oauth2-redirect.html`,
});
ui.initOAuth({ scopes: 'openid', usePkceWithAuthorizationCodeGrant: true });
